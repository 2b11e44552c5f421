package ingest

// KnownFormats is what messages offer.
func KnownFormats() string { return knownFormats() }

// Settings returns the members of "herbarium" that are read, by where they stand.
func Settings() map[string][]string {
	return map[string][]string{
		"package": packageSettings(), "resource": resourceSettings(), "field": fieldOwnSettings(),
		"order": orderSettings(), "golden": expectationSettings(),
	}
}

package datapackage

// Settings returns the known members of Herbarium's own objects, by the name of their definition in the JSON Schema.
func Settings() map[string][]string {
	return map[string][]string{
		"packageSettings": packageSettings(), "resourceSettings": resourceSettings(), "fieldSettings": fieldSettings(),
		"order": orderSettings(), "golden": expectationSettings(),
	}
}

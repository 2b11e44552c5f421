package datapackage

import (
	"herbarium/internal/herb"
	"herbarium/internal/ingest/source"
)

// Settings returns the known members of Herbarium's own objects, by the name of their definition in the JSON Schema.
func Settings() map[string][]string {
	return map[string][]string{
		"packageSettings": namesOf(packageSettings(new(herb.Access))), "resourceSettings": namesOf(resourceSettings(new(source.Source))),
		"fieldSettings": namesOf(fieldSettings(new(source.FieldSetting))), "order": namesOf(orderSettings(new(string), new(string))),
		"map": namesOf(mapSettings(new(source.MapFields))), "golden": namesOf(expectationSettings(new(herb.Expectation), new(bool))),
	}
}

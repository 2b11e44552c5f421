// Package schemas holds the JSON Schemas that the program publishes.
package schemas

import _ "embed"

// DataPackage is the schema of the members called "herbarium" in a Data Package descriptor.
//
//go:embed datapackage-herbarium.schema.json
var DataPackage string

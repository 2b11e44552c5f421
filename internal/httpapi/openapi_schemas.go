package httpapi

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// schemas returns the schemas of all bodies, except for the records of each dataset.
func schemas() object {
	const maxText = 255
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	flag := func(description string) object {
		return object{{"type", "boolean"}, {"description", description}}
	}
	name := str("Name of the plant. At least one visible character, no control characters.",
		member{"minLength", 1}, member{"maxLength", maxText})
	tag := str("Tag that specifies the type. No control characters.", member{"maxLength", maxText})
	summary := object{
		{"namespace", str("Namespace of the dataset, the first segment of its path.")},
		{"name", str("Name of the dataset, the second segment of its path.")},
		{"title", str("Display name.")},
		{"description", str("Description of its content.")},
		{"access", str("Who may read the records: anyone, or holders of a key. The description is always open.",
			member{"enum", []herb.Access{herb.AccessOpen, herb.AccessKey}})},
		{"records", count("Number of records.")},
		{"field_names", array(object{{"type", "string"}})},
		{"version", str("Version; changes whenever a record or a field does.")},
		{"published_at", str("Publication time of this version.", member{"format", "date-time"})},
		{"unavailable", flag("true if it cannot be listed at the moment; the description is then the last known one.")},
		{"links", record("Related resources.", []string{"self", "data", "openapi"}, object{
			{"self", str("The description of the dataset.", member{"format", "uri-reference"})},
			{"data", str("Its records.", member{"format", "uri-reference"})},
			{"openapi", str("The OpenAPI document.", member{"format", "uri-reference"})},
		})},
	}
	always := []string{"namespace", "name", "access", "records", "field_names", "version", "links"}
	return append(object{
		{"Plant", record("A created plant.", []string{"name"}, object{{"name", name}, {"tag", tag}})},
		{"NewPlant", record("A plant to be created.", []string{"id", "name"}, object{
			{"id", whole("Identification number of the plant.", member{"format", "int64"})},
			{"name", name},
			{"tag", tag},
		})},
		{"Error", record("An error.", []string{"error", "message"}, object{
			{"error", whole("The HTTP status.", member{"format", "int32"}, member{"minimum", 400}, member{"maximum", 599})},
			{"message", str("What is wrong, and how to fix it.", member{"minLength", 1})},
		})},
		{"Record", object{
			{"type", "object"},
			{"description", "A flat record: every value is a string, exactly as written in the source."},
			{"additionalProperties", object{{"type", "string"}}},
		}},
		{"Meta", record("Pagination metadata.",
			[]string{"total", "page", "per_page", "total_pages", "has_next", "has_prev"}, object{
				{"total", count("Matching records on all pages. Always exact.")},
				{"page", whole("This page, counted from 1.", member{"minimum", 1})},
				{"per_page", whole("Maximum number of records per page, after capping.", member{"minimum", 1}, member{"maximum", query.MaxPerPage})},
				{"total_pages", count("Number of pages.")},
				{"has_next", flag("Whether there is a next page.")},
				{"has_prev", flag("Whether there is a previous page.")},
			})},
		{"Listing", record("A page of records.", []string{"data", "meta"}, object{
			{"data", array(schema("Record"))},
			{"meta", schema("Meta")},
		})},
		{"Catalogue", record("All datasets.", []string{"datasets"}, object{{"datasets", array(schema("DatasetSummary"))}})},
		{"DatasetSummary", record("Summary of a dataset.", always, summary)},
		{"Dataset", record("Full description of a dataset.", append(always, "fields"),
			summary.with(append(object{{"fields", array(schema("Field"))}}, detailSchemas()...)...))},
		{"Report", reportSchema()},
		{"ColumnReport", columnReportSchema()},
		{"Field", record("An exposed field of a dataset.",
			[]string{"name", "type", "searchable", "filterable", "sortable", "operators"}, object{
				{"name", str("Name in records and parameters.")},
				{"type", str("Type; determines how values compare.", member{"enum", herb.Types()})},
				{"title", str("Display name.")},
				{"description", str("Description of its content.")},
				{"weight", whole("Weight of its words in search scores; 1 if absent.",
					member{"minimum", 1}, member{"maximum", herb.MaxWeight})},
				{"searchable", flag("Whether search includes it.")},
				{"filterable", flag("Whether it can be filtered by.")},
				{"sortable", flag("Whether it can be sorted by.")},
				{"operators", array(str("Operators for filters, as in name[operator]=value.", member{"enum", query.Ops()}))},
			})},
		{"Status", record("The state of the service.", []string{"status"}, object{
			{"status", str("`ready`, or `degraded` if some requests fail because of an unavailable dependency; see `parts`.",
				member{"enum", []string{"ok", "ready", "degraded"}})},
			{"parts", object{
				{"type", "object"},
				{"description", "State of each dependency: `ok`, or a description of the failure."},
				{"additionalProperties", object{{"type", "string"}}},
			}},
		})},
	}, facetSchemas()...)
}

// detailSchemas returns the members of a dataset's description that belong to its version.
func detailSchemas() object {
	return object{
		{"order", record("Default order of records. If absent, they are in source order.",
			[]string{"field"}, object{
				{"field", str("Field to sort by.")},
				{"desc", object{{"type", "boolean"}, {"description", "Whether the order is descending."}}},
			})},
		{"primary_key", array(str("Field of the primary key; the combined values of all its fields are unique."))},
		{"descriptor", object{
			{"type", "object"},
			{"description", "Descriptor written by the publisher. With `access: key`, only for holders of a key that can read the records."},
			{"additionalProperties", true},
		}},
		{"report", schema("Report")},
		{"file", record("The segment file of the version, if it is shared by several nodes.", []string{"size", "sha256"}, object{
			{"size", whole("Bytes.", member{"minimum", 0})},
			{"sha256", str("SHA-256 of the file.", member{"pattern", "^[0-9a-f]{64}$"})},
		})},
	}
}

func reportSchema() object {
	return record("Import report. With `access: key`, only for holders of a key that can read the records.",
		[]string{"format", "rows", "columns", "cells"}, object{
			{"format", str("Format of the source.")},
			{"rows", whole("Rows of the source.", member{"minimum", 0})},
			{"excluded", whole("Rows excluded by the settings.", member{"minimum", 0})},
			{"columns", array(schema("ColumnReport"))},
			{"hidden", array(str("Column of the source that is not exposed."))},
			{"cells", str("Content hash: over all cells, the same in the source and in the listing.", member{"pattern", "^sha256:[0-9a-f]{64}$"})},
			{"source_cells", sourceCellsSchema()},
			{"notes", array(str("Note for the publisher."))},
		})
}

func sourceCellsSchema() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return record("Account of the non-empty cells of the source. The listing has `total` + `repeated` - `hidden` - `excluded` - `missing` of them.",
		[]string{"total"}, object{
			{"total", count("Non-empty cells of the source, before settings are applied.")},
			{"hidden", count("Cells in columns that are not exposed.")},
			{"excluded", count("Cells in rows excluded by the settings.")},
			{"missing", count("Cells whose value the settings declare as missing.")},
			{"repeated", count("Cells listed again because several fields expose their column.")},
		})
}

func columnReportSchema() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return record("Import report of one field.",
		[]string{"field", "column", "type", "evidence", "filled", "empty", "distinct", "shortest", "longest"}, object{
			{"field", str("Name of the field.")},
			{"column", str("Column name in the source.")},
			{"type", str("Type; determines how values compare.", member{"enum", herb.Types()})},
			{"evidence", str("Why this type was chosen.")},
			{"filled", count("Records with a value.")},
			{"empty", count("Records without a value.")},
			{"distinct", count("Distinct values.")},
			{"min", str("First value in the order of the type, truncated if it is long.")},
			{"max", str("Last value in the order of the type, truncated if it is long.")},
			{"shortest", count("Length of the shortest value in characters.")},
			{"longest", count("Length of the longest value in characters.")},
			{"notes", array(str("Note for the publisher."))},
		})
}

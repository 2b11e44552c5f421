package httpapi

import (
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// schemas returns the shapes of all bodies, except for the records of each dataset.
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
		{"namespace", str("First part of the dataset's address.")},
		{"name", str("Second part of the dataset's address.")},
		{"title", str("What people call it.")},
		{"description", str("What it is about.")},
		{"access", str("Who may list the records: anyone, or holders of a key. The description is open either way.",
			member{"enum", []herb.Access{herb.AccessOpen, herb.AccessKey}})},
		{"records", count("Number of records.")},
		{"field_names", array(object{{"type", "string"}})},
		{"version", str("Changes whenever a record or a field does.")},
		{"published_at", str("When this version was published.", member{"format", "date-time"})},
		{"unavailable", flag("It cannot be listed at the moment, and this is what was last known of it. Absent: it can.")},
		{"links", record("Where to go from here.", []string{"self", "data", "openapi"}, object{
			{"self", str("The description of the dataset.", member{"format", "uri-reference"})},
			{"data", str("Its records.", member{"format", "uri-reference"})},
			{"openapi", str("How to ask for them.", member{"format", "uri-reference"})},
		})},
	}
	always := []string{"namespace", "name", "access", "records", "field_names", "version", "links"}
	return append(object{
		{"Plant", record("A plant as its creator gets it back.", []string{"name"}, object{{"name", name}, {"tag", tag}})},
		{"NewPlant", record("A plant to be created.", []string{"id", "name"}, object{
			{"id", whole("Identification number of the plant.", member{"format", "int64"})},
			{"name", name},
			{"tag", tag},
		})},
		{"Error", record("What went wrong.", []string{"error", "message"}, object{
			{"error", whole("The HTTP status.", member{"format", "int32"}, member{"minimum", 400}, member{"maximum", 599})},
			{"message", str("What was wrong, and what would be right.", member{"minLength", 1})},
		})},
		{"Record", object{
			{"type", "object"},
			{"description", "A flat record: every value is a string, exactly as the source wrote it."},
			{"additionalProperties", object{{"type", "string"}}},
		}},
		{"Meta", record("Where a page stands.",
			[]string{"total", "page", "per_page", "total_pages", "has_next", "has_prev"}, object{
				{"total", count("Records that meet the request, on all pages. Always exact.")},
				{"page", whole("This page, counted from 1.", member{"minimum", 1})},
				{"per_page", whole("Records on a page, as used.", member{"minimum", 1}, member{"maximum", query.MaxPerPage})},
				{"total_pages", count("Number of pages.")},
				{"has_next", flag("There is a later page.")},
				{"has_prev", flag("There is an earlier page.")},
			})},
		{"Listing", record("A page of records.", []string{"data", "meta"}, object{
			{"data", array(schema("Record"))},
			{"meta", schema("Meta")},
		})},
		{"Catalogue", record("All datasets.", []string{"datasets"}, object{{"datasets", array(schema("DatasetSummary"))}})},
		{"DatasetSummary", record("A dataset in short.", always, summary)},
		{"Dataset", record("A dataset in full.", append(always, "fields"),
			summary.with(append(object{{"fields", array(schema("Field"))}}, detailSchemas()...)...))},
		{"Report", reportSchema()},
		{"ColumnReport", columnReportSchema()},
		{"Field", record("An exposed field of a dataset.",
			[]string{"name", "type", "searchable", "filterable", "sortable", "operators"}, object{
				{"name", str("Its name in records and parameters.")},
				{"type", str("How its values compare.", member{"enum", herb.Types()})},
				{"title", str("What people call it.")},
				{"description", str("What it holds.")},
				{"weight", whole("How many times a word found in it counts in a search; once unless given.",
					member{"minimum", 1}, member{"maximum", herb.MaxWeight})},
				{"searchable", flag("search looks into it.")},
				{"filterable", flag("It can be filtered by.")},
				{"sortable", flag("It can be sorted by.")},
				{"operators", array(str("What name[operator]=value may ask of it.", member{"enum", query.Ops()}))},
			})},
		{"Status", record("The state of the service.", []string{"status"}, object{
			{"status", str("In one word. `degraded`: some requests fail, as `parts` tells.",
				member{"enum", []string{"ok", "ready", "degraded"}})},
			{"parts", object{
				{"type", "object"},
				{"description", "What requests depend on: `ok`, or what is wrong with it."},
				{"additionalProperties", object{{"type", "string"}}},
			}},
		})},
	}, facetSchemas()...)
}

// detailSchemas are the members of a dataset's description that tell of its version.
func detailSchemas() object {
	return object{
		{"order", record("How records come when a listing asks for no order. Absent: in the order of the source.",
			[]string{"field"}, object{
				{"field", str("Field they are sorted by.")},
				{"desc", object{{"type", "boolean"}, {"description", "The other way round."}}},
			})},
		{"primary_key", array(str("Field whose value, with those of the others listed, tells the records apart."))},
		{"descriptor", object{
			{"type", "object"},
			{"description", "What the publisher wrote about it. With `access: key`, only for holders of a key that lists the records."},
			{"additionalProperties", true},
		}},
		{"report", schema("Report")},
		{"file", record("The file that the version is kept in, where several machines serve it.", []string{"size", "sha256"}, object{
			{"size", whole("Bytes.", member{"minimum", 0})},
			{"sha256", str("SHA-256 of the file.", member{"pattern", "^[0-9a-f]{64}$"})},
		})},
	}
}

func reportSchema() object {
	return record("What the publish understood of its source. With `access: key`, only for holders of a key that lists the records.",
		[]string{"format", "rows", "columns", "cells"}, object{
			{"format", str("How the source is written.")},
			{"rows", whole("Rows of the source.", member{"minimum", 0})},
			{"excluded", whole("Rows that the settings leave out.", member{"minimum", 0})},
			{"columns", array(schema("ColumnReport"))},
			{"hidden", array(str("Column of the source that is not exposed."))},
			{"cells", str("Hash over all cells, the same in the source and in the listing.", member{"pattern", "^sha256:[0-9a-f]{64}$"})},
			{"source_cells", sourceCellsSchema()},
			{"notes", array(str("What the publisher should know."))},
		})
}

func sourceCellsSchema() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return record("Where the non-empty cells of the source are. The listing has `total` + `repeated` - `hidden` - `excluded` - `missing` of them.",
		[]string{"total"}, object{
			{"total", count("Non-empty cells of the source, before any setting was applied.")},
			{"hidden", count("Those in columns that are not exposed.")},
			{"excluded", count("Those in rows that the settings leave out.")},
			{"missing", count("Those that the settings declare to stand for a missing value.")},
			{"repeated", count("Those that are listed once more because several fields expose their column.")},
		})
}

func columnReportSchema() object {
	count := func(description string) object { return whole(description, member{"minimum", 0}) }
	return record("What the publish understood of one field.",
		[]string{"field", "column", "type", "evidence", "filled", "empty", "distinct", "shortest", "longest"}, object{
			{"field", str("Its name.")},
			{"column", str("Its name in the source.")},
			{"type", str("How its values compare.", member{"enum", herb.Types()})},
			{"evidence", str("Why it has this type.")},
			{"filled", count("Records with a value.")},
			{"empty", count("Records without one.")},
			{"distinct", count("Values that compare as different.")},
			{"min", str("First value in the order of the type, shortened if it is long.")},
			{"max", str("Last value in the order of the type, shortened if it is long.")},
			{"shortest", count("Characters of the shortest value.")},
			{"longest", count("Characters of the longest value.")},
			{"notes", array(str("What the publisher should know."))},
		})
}

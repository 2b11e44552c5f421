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
		{"links", record("Where to go from here.", []string{"self", "data", "openapi"}, object{
			{"self", str("The description of the dataset.", member{"format", "uri-reference"})},
			{"data", str("Its records.", member{"format", "uri-reference"})},
			{"openapi", str("How to ask for them.", member{"format", "uri-reference"})},
		})},
	}
	always := []string{"namespace", "name", "access", "records", "field_names", "version", "links"}
	return object{
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
			summary.with(member{"fields", array(schema("Field"))}))},
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
			{"status", str("In one word.", member{"enum", []string{"ok", "ready"}})},
		})},
	}
}

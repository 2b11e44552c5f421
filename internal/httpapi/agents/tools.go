package agents

import (
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"herbarium/internal/query"
)

// tool is one of the tools.
type tool struct {
	name, title, description string
	inputs                   []input
	run                      func(*toolCall) (*block, error)
}

// input is an argument of a tool. No input has a default in the schema: models send defaults along,
// and then they are no longer absent.
type input struct {
	name, kind, description string
	required                bool
	param                   string // of the request to the API, which gets the values; empty: none
}

// params returns the parameters with the values of the input.
func (in input) params(values []string) (params query.Params) {
	switch in.param {
	case "":
	case query.ParamFilter, query.ParamBy, query.ParamMeasure, query.ParamHaving:
		for _, value := range values {
			params = append(params, query.Param{Name: in.param, Value: value})
		}
	default:
		params = params.WithValue(in.param, strings.Join(values, ","))
	}
	return params
}

const (
	kindText   = "string"
	kindNumber = "integer"
	kindFlag   = "boolean"
	kindList   = "array" // of texts
)

// Inputs that several tools have. Each description has a worked example.
var (
	inputDataset = input{"dataset", kindText, `Name as search_datasets lists it: "garden/catalog"`, true, ""}
	inputVersion = input{"version", kindText,
		`Version of a result, to repeat it: "20240229T133000Z-abcdefghij". Leave out for the newest`,
		false, ""}
	inputSearch = input{"search", kindText, `Words in any searchable field: "rose -wild", "ros*", "\"red rose\""`,
		false, query.ParamSearch}
	inputFilters = input{"filters", kindList,
		`Conditions on fields that must all hold: ["category=tree", "price[gte]=10", "price[lt]=20"]. ` +
			`Several values of one field are alternatives. Dates can move: "date[gte]=today-30d", now-24h, week, month-1, year. Operators: eq ne gt gte lt lte in empty; texts also ieq ine (any case) prefix contains match`,
		false, query.ParamFilter}
	inputAny = input{"any_of", kindList,
		`Fields whose conditions are joined by or: ["category", "tags"]`, false,
		query.ParamAny}
	inputNear = input{"near", kindText,
		`Latitude, longitude and meters around it: "47.37,8.54,5000"`, false, query.ParamNear}
	inputBox = input{"bbox", kindText,
		`West, south, east, north: "8.4,47.3,8.6,47.5"`, false, query.ParamBox}
	inputFields = input{"fields", kindList,
		`Fields to return, in this order: ["id", "title"]. Fewer leave room for more rows`, false,
		query.ParamFields}
	inputPage    = input{"page", kindNumber, `Page: 2`, false, query.ParamPage}
	inputPerPage = input{"per_page", kindNumber, `Rows of a page, at most 100: 20. Leave out for 50`, false,
		query.ParamPerPage}
)

// tools returns all tools.
func tools() []tool {
	return []tool{
		{
			name: "search_datasets", title: "Search datasets",
			description: "Find datasets by name, title, description and field names, those with all words first, or " +
				"list all of them. If no name has all words, it searches the records.",
			inputs: []input{{"query", kindText, `Beginnings of words: "tree price". Leave out to list all datasets`,
				false, query.ParamSearch}, inputPage,
				{"per_page", kindNumber, `Datasets of a page, at most 100: 50`, false,
					query.ParamPerPage}},
			run: (*toolCall).searchDatasets,
		},
		{
			name: "describe_dataset", title: "Describe a dataset",
			description: "Call this before you query a dataset: fields with types, ranges, most frequent values and " +
				"an example of a filter; three records; " +
				"the version; the addresses of the whole dataset as a file.",
			inputs: []input{inputDataset,
				{"fields", kindList, `Describe only these fields: ["category", "price"]`, false,
					query.ParamFields},
				{"page", kindNumber, `Page of fields: 2`, false, query.ParamPage},
				{"per_page", kindNumber, `Fields of a page, at most 100: 50`, false,
					query.ParamPerPage}, inputVersion},
			run: (*toolCall).describeDataset,
		},
		{
			name: "query_records", title: "Query records",
			description: "List records that match filters and a search, with the exact total. To count or to " +
				"compute, use aggregate. " +
				"An error names what is valid: correct the call and repeat it.",
			inputs: []input{
				inputDataset, inputSearch, inputFilters, inputAny, inputNear, inputBox,
				{"sort", kindList, `Fields to sort by, - for descending: ["category", "-price"], or _distance with near. Without it, the best matches come first`, false, query.ParamSort},
				inputFields, inputPage, inputPerPage,
				{"matches", kindFlag, `Show where rows match, in a last column: "Old **rose**"`,
					false, query.ParamMatches}, inputVersion,
			},
			run: (*toolCall).queryRecords,
		},
		{
			name: "aggregate", title: "Count and compute",
			description: "Count records and compute sums, means and more, of all matching records or by group: how " +
				"many per category, the mean price per month. All values are exact.",
			inputs: []input{
				inputDataset,
				{"by", kindList, `Up to two fields: ["category"], with a grain for dates: ["date:month"] (year quarter month week day hour weekday month_of_year hour_of_day), ` +
					`or a width for numbers: ["price:10"]. Leave out for one total`, false, query.ParamBy},
				{"measures", kindList, `Up to eight, or 100 without groups: ["count", "sum:price", "mean:price"]. Kinds: count, and with a field filled distinct sum mean median stddev min max, p0 to p100; ` +
					`"ratio:a/b" divides two sums. Leave out for count`, false, query.ParamMeasure},
				inputSearch, inputFilters, inputAny, inputNear, inputBox,
				{"having", kindList, `Conditions on measures: ["count[gte]=10"]`, false, query.ParamHaving},
				{"sort", kindList, `Measures and groups to sort by, - for descending: ["-sum:price"], ["by1"]`, false, query.ParamGroupSort},
				inputPage, {"per_page", kindNumber, `Groups of a page, at most 100: 10`, false, query.ParamPerPage},
				inputVersion,
			},
			run: (*toolCall).aggregate,
		},
		{
			name: "get_record", title: "Get a record",
			description: "Get one record by its primary key, with whole values where query_records cuts them.",
			inputs: []input{
				inputDataset, {"key", kindList, `Values of the primary key, in its order: ["17"]`, true, ""},
				{"fields", kindList, `Fields to return: ["description"]`, false, query.ParamFields}, inputVersion,
			},
			run: (*toolCall).getRecord,
		},
	}
}

// outputSchema describes facts. It is the same for all tools.
const outputSchema = `{"type":"object","properties":{` +
	`"total":{"type":"integer","description":"Exact number of rows"},"from":{"type":"integer"},"to":{"type":"integer"},` +
	`"version":{"type":"string"},"permalink":{"type":"string","description":"Returns these rows again"},` +
	`"cut":{"type":"string","description":"What is missing"},` +
	`"csv":{"type":"string","description":"The rows"}},"required":["total","permalink"]}`

// declaration returns what tools/list says of a tool.
func (t tool) declaration() *mcp.Tool {
	var properties, required strings.Builder
	for i, in := range t.inputs {
		if i > 0 {
			properties.WriteByte(',')
		}
		schema := map[string]any{"type": in.kind, "description": in.description}
		switch in.kind {
		case kindList:
			schema["items"] = map[string]string{"type": kindText}
		case kindNumber:
			schema["minimum"] = 1
		}
		encoded, _ := json.Marshal(schema) // texts and numbers
		properties.WriteString(`"` + in.name + `":` + string(encoded))
		if in.required {
			if required.Len() > 0 {
				required.WriteByte(',')
			}
			required.WriteString(`"` + in.name + `"`)
		}
	}
	schema := `{"type":"object","properties":{` + properties.String() + `}`
	if required.Len() > 0 {
		schema += `,"required":[` + required.String() + `]`
	}
	closed := false
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		InputSchema:  json.RawMessage(schema + `,"additionalProperties":false}`),
		OutputSchema: json.RawMessage(outputSchema),
		Annotations:  &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
	}
}

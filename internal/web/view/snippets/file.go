package snippets

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/typed"
)

// File is the complete result of a view, as a file.
type File struct {
	Live    string // URL of the CSV file of the live version, or of the version that the view names
	Pinned  string // URL of the CSV file of the version that is live now
	NDJSON  string // the same as NDJSON
	Parquet string // URL of the Parquet file of that version; empty: the view has no such file
	Name    string // of the file, without an extension
	Locked  bool   // it requires a key
	Numbers []string
	Dates   []string
}

// maxConverted is how many columns a program converts. The others stay text.
const maxConverted = 60

// SetColumns selects the columns that programs convert from text: those whose notation all of them
// read alike, and whose numbers have no more digits than a double holds. types is nil if the
// visitor may not know them; selected are the positions of the columns in the file, nil if it has
// all.
func (f *File) SetColumns(fields []herb.Field, types []typed.Column, selected []int) {
	const doubleDigits = 15
	for i, t := range types {
		n := fields[i].Notation
		n.Missing = nil
		isPlainNotation := n.Decimal+n.Group+n.Affix+n.DateFormat == "" && !n.Padded
		inFile := selected == nil || slices.Contains(selected, i)
		if !inFile || !isPlainNotation || !isPlain(fields[i].Name) || len(f.Numbers)+len(f.Dates) == maxConverted {
			continue
		}
		switch {
		case fields[i].Type == herb.TypeNumber && (t.Kind == typed.Int64 || t.Kind == typed.Decimal && t.Precision <= doubleDigits):
			f.Numbers = append(f.Numbers, fields[i].Name)
		case t.Kind == typed.Date:
			f.Dates = append(f.Dates, fields[i].Name)
		}
	}
}

// Files returns programs that read a file as a table.
func Files(f File) []Snippet {
	values := map[string]string{
		"live": quoteJSON(f.Live), "pinned": quoteJSON(f.Pinned), "ndjson": quoteJSON(f.NDJSON), "m": quoteM(f.Live),
		"shellurl": quoteShell(f.Pinned), "file": f.Name + ".csv",
	}
	tableR, tablePandas, tableDuckDB := rTable, pandas, duckDB
	if f.Parquet != "" {
		tableR, tablePandas, tableDuckDB = rParquet, pandasParquet, duckDBParquet
		values["pinned"], values["shellurl"], values["file"] = quoteJSON(f.Parquet), quoteShell(f.Parquet), f.Name+".parquet"
	}
	for _, name := range []string{"shellkey", "jskey", "mkey", "pykey", "pyimport", "scriptkey", "pyconvert", "jsconvert", "rconvert", "mconvert", "sqlconvert", "rkey"} {
		values[name] = ""
	}
	values["rurl"] = values["pinned"]
	sheets := Snippet{"Google Sheets", "Enter the formula into the first cell of an empty sheet.", "=IMPORTDATA(" + quoteSheets(f.Live) + ")"}
	if f.Locked {
		values["shellkey"] = ` -H "X-API-Key: $HERBARIUM_KEY"`
		values["jskey"] = `, { headers: { "X-API-Key": Secret("HERBARIUM_KEY") } }`
		values["mkey"] = "// When you are asked how to connect, choose Basic: any user name, and the key as the password.\n"
		values["pykey"], values["pyimport"] = "\n    storage_options={\"X-API-Key\": os.environ[\"HERBARIUM_KEY\"]},", "import os\n\n"
		values["rurl"] = "url(\n  " + values["pinned"] + ",\n  headers = c(\"X-API-Key\" = Sys.getenv(\"HERBARIUM_KEY\"))\n)"
		values["rkey"] = ",\n  headers = c(\"X-API-Key\" = Sys.getenv(\"HERBARIUM_KEY\"))"
		sheets = Snippet{"Google Sheets", "In Extensions > Apps Script, store the key as the script property HERBARIUM_KEY, then run the function.", code(appsScript, values)}
	}
	f.addConversions(values)
	query := code(powerQuery, values)
	return []Snippet{
		{"Excel", "Data > Get Data > From Other Sources > Blank Query > Advanced Editor.", query},
		{"Power BI", "Get data > Blank query > Advanced editor.", query},
		sheets,
		{"R", "", code(tableR, values)},
		{"pandas", "", code(tablePandas, values)},
		{"DuckDB", "For a shell, with curl and the command line of DuckDB.", code(tableDuckDB, values)},
		{"Observable", "A cell of a notebook.", code(observable, values)},
	}
}

// addConversions adds the code that converts columns from text.
func (f File) addConversions(values map[string]string) {
	numbers := func(indent string) string { return quoteAll(f.Numbers, quoteJSON, indent) }
	dates := func(indent string) string { return quoteAll(f.Dates, quoteJSON, indent) }
	pair := func(kind string) func(string) string {
		return func(name string) string { return "{" + quoteM(name) + ", " + kind + "}" }
	}
	cast := func(kind string) func(string) string {
		return func(name string) string {
			return "TRY_CAST(" + quoteName(name) + " AS " + kind + ") AS " + quoteName(name)
		}
	}
	types, casts := "", ""
	if f.Numbers != nil {
		values["pyconvert"] += "for column in [" + numbers("    ") + "]:\n    table[column] = pd.to_numeric(table[column], errors=\"coerce\")\n"
		values["jsconvert"] += "  for (const column of [" + numbers("    ") + "])\n    for (const row of rows) row[column] = row[column] === \"\" ? null : Number(row[column]);\n"
		values["rconvert"] += "for (column in c(" + numbers("  ") + "))\n  table[[column]] <- suppressWarnings(as.numeric(table[[column]]))\n"
		types, casts = quoteAll(f.Numbers, pair("type number"), "        "), quoteAll(f.Numbers, cast("DOUBLE"), "  ")
	}
	if f.Dates != nil {
		values["pyconvert"] += "for column in [" + dates("    ") + "]:\n    table[column] = pd.to_datetime(table[column], errors=\"coerce\")\n"
		values["jsconvert"] += "  for (const column of [" + dates("    ") + "])\n    for (const row of rows) row[column] = row[column] === \"\" ? null : new Date(row[column]);\n"
		values["rconvert"] += "for (column in c(" + dates("  ") + "))\n  table[[column]] <- as.Date(table[[column]], optional = TRUE)\n"
		if types != "" {
			types, casts = types+",\n        ", casts+",\n  "
		}
		types, casts = types+quoteAll(f.Dates, pair("type date"), "        "), casts+quoteAll(f.Dates, cast("DATE"), "  ")
	}
	values["mlast"] = "Rows"
	if types != "" {
		values["mlast"] = "Typed"
		values["mconvert"] = ",\n    Typed = Table.TransformColumnTypes(Rows, {\n        " + types + "\n    }, \"en-US\")"
		values["sqlconvert"] = " REPLACE (\n  " + casts + "\n)"
	}
}

const powerQuery = `{mkey}let
    File = Web.Contents({m}),
    Table = Csv.Document(File, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv]),
    Rows = Table.PromoteHeaders(Table, [PromoteAllScalars = true]){mconvert}
in
    {mlast}`

const appsScript = `function importRows() {
  const key = PropertiesService.getScriptProperties().getProperty("HERBARIUM_KEY");
  const response = UrlFetchApp.fetch(
    {live},
    { headers: { "X-API-Key": key } }
  );
  const rows = Utilities.parseCsv(response.getContentText());
  SpreadsheetApp.getActiveSheet().clear().getRange(1, 1, rows.length, rows[0].length).setValues(rows);
}`

const rTable = `table <- read.csv({rurl},
  colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8"
)
{rconvert}print(table)`

const pandas = `{pyimport}import pandas as pd

table = pd.read_csv(
    {pinned},
    dtype=str, keep_default_na=False,{pykey}
)
{pyconvert}print(table)`

const duckDB = `curl -f -o {file}{shellkey} \
  {shellurl} &&
duckdb <<'SQL'
SELECT *{sqlconvert}
FROM read_csv('{file}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', strict_mode = true);
SQL`

// Programs that read a Parquet file convert nothing: it has types.

const rParquet = `library(arrow)

file <- tempfile(fileext = ".parquet")
download.file(
  {pinned},
  file,
  mode = "wb"{rkey}
)
table <- read_parquet(file)
print(table)`

const pandasParquet = `{pyimport}import pandas as pd  # with pyarrow

table = pd.read_parquet(
    {pinned},
    dtype_backend="pyarrow",{pykey}
)
print(table)`

const duckDBParquet = `curl -f -o {file}{shellkey} \
  {shellurl} &&
duckdb <<'SQL'
SELECT *
FROM '{file}';
SQL`

const observable = `table = {
  const response = await fetch({ndjson}{jskey});
  if (!response.ok) throw new Error((await response.json()).message);
  const lines = (await response.text()).trimEnd().split("\n");
  const rows = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
{jsconvert}  return rows;
}`

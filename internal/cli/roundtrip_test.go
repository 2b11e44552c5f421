package cli_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"
	_ "modernc.org/sqlite" // writes the databases of the corpus

	"herbarium/internal/must"
)

// formatCase is a file and the cells that it contains.
type formatCase struct {
	name, file string
	make       func(t *testing.T, path string)
	part       string // of the file
	want       [][]string
}

func utf16Of(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// formatCases returns files of every format. The expected cells are literals, not read by our code.
func formatCases(t *testing.T) []formatCase {
	type rows = [][]string
	plants := rows{{"id", "name", "note"}, {"007", "Rosé", "a,b"}, {"8", "植物", "x\ny"}, {"", "Fern \"wild\"", ""}}
	const csv = "id,name,note\n007,Rosé,\"a,b\"\n8,植物,\"x\ny\"\n,\"Fern \"\"wild\"\"\",\n"
	const tsv = "id\tname\tnote\n007\tRosé\ta,b\n8\t植物\t\"x\ny\"\n\t\"Fern \"\"wild\"\"\"\t\n"
	const semicolons = "id;name;note\r\n007;Rosé;a,b\r\n8;植物;\"x\ny\"\r\n;\"Fern \"\"wild\"\"\";\r\n"
	const array = `[{"id":"007","name":"Ros\u00e9","note":"a,b"},{"id":8,"name":"植物","note":"x\ny"},{"name":"Fern \"wild\"","note":null}]`
	lines := strings.NewReplacer("[{", "{", "}]", "}\n", "},{", "}\n{").Replace(array)
	return []formatCase{
		{"CSV", "x.csv", containing(csv), "", plants},
		{"CSV with a mark", "x.csv", containing("\uFEFF" + csv), "", plants},
		{"TSV", "x.tsv", containing(tsv), "", plants},
		{"TSV called text", "x.txt", containing(tsv), "", plants},
		{"semicolons", "x.csv", containing(semicolons), "", plants},
		{"semicolons without an extension", "x", containing(semicolons), "", plants},
		{"bars", "x.dat", containing(strings.ReplaceAll(semicolons, ";", "|")), "", plants},
		{"UTF-16, little end first", "x.csv", containing("\xFF\xFE" + utf16Of(binary.LittleEndian, csv)), "", plants},
		{"UTF-16, big end first, no mark", "x.csv", containing(utf16Of(binary.BigEndian, csv)), "", plants},
		{"Windows-1252", "x.csv", containing("a,b\ncaf\xE9,\x80 5\n\x93x\x94,\xDF\n"), "",
			rows{{"a", "b"}, {"café", "€ 5"}, {"“x”", "ß"}}},
		{"separator line", "x.csv", containing("sep=;\r\na,b;c\r\n1,5;2\r\n"), "", rows{{"a,b", "c"}, {"1,5", "2"}}},
		{"CSV in gzip", "x.csv.gz", containing(gzipped(t, csv)), "", plants},
		{"CSV in zstd", "x.csv.zst", containing(zstded(t, csv)), "", plants},
		{"TSV in gzip that does not say so", "x.tsv", containing(gzipped(t, tsv)), "", plants},
		{"JSON", "x.json", containing(array), "", plants},
		{"JSON in UTF-16", "x.json", containing("\xFF\xFE" + utf16Of(binary.LittleEndian, array)), "", plants},
		{"JSON in a wrapper", "x.json", containing(`{"ok":true,"result":{"records":` + array + `}}`), "", plants},
		{"JSON lines", "x.ndjson", containing(lines), "", plants},
		{"JSON lines in zstd, by content", "x.bin", containing(zstded(t, lines)), "", plants},
		{"JSON with arrays for records", "x.json", containing(`[["id","n"],["007",1.50],[null,-0]]`), "",
			rows{{"id", "n"}, {"007", "1.50"}, {"", "-0"}}},
		{"nested JSON", "x.json",
			containing(`[{"a":{"b":1.10,"c":{"d":[1,2]}},"t":["x","y z"],"o":[{"k":"v"}],"f":false},` +
				`{"a":{"b":12345678901234567890,"c":null},"t":["x, y"],"e":1e5,"f":true}]`), "", rows{
				{"a.b", "a.c.d", "t", "o", "f", "a.c", "e"},
				{"1.10", "1,2", `["x","y z"]`, `[{"k":"v"}]`, "false", "", ""},
				{"12345678901234567890", "", `["x, y"]`, "", "true", "", "1e5"},
			}},
		{"XLSX", "x.xlsx", makeBook, "Sheet1", rows{
			{"code", "day", "price", "yes", "text"}, {"007", "2024-02-29", "1.5", "true", " é\n植"},
			{"", "2024-03-01T06:00:00", "0.1", "false", "<&>"},
		}},
		{"XLSX with values right of its header", "x.xlsx", makeWideBook, "",
			rows{{"a", "b", "column_3"}, {"1", "2", "3"}, {"4", "", ""}}},
		{"a sheet of XLSX", "x.xlsx", makeBook, "More", rows{{"a", "b"}, {"1", ""}, {"", "2"}}},
		{"SQLite", "x.db", makeDatabase, "plants", rows{
			{"id", "name", "price", "note"}, {"-3", "", "100000000000000000000", "007"}, {"1", "Rosé", "1.5", "a,b"},
			{"9007199254740993", "it's\n植", "0.1", ""},
		}},
		{"Parquet", "x.parquet", makeParquet, "", rows{
			{"id", "name", "price", "day", "at", "ok", "tags"},
			{"9007199254740993", "Rosé\n\"x\"", "0.1", "2024-02-29", "2024-02-29T10:30:00.123Z", "true", "a,b"},
			{"-1", "", "1.5", "1969-12-31", "1969-12-31T23:59:59.999Z", "false", ""},
		}},
	}
}

// TestPublish_formats publishes a file of every format and exports it twice: every cell is what was
// written.
func TestPublish_formats(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	for _, tt := range formatCases(t) {
		path := filepath.Join(t.TempDir(), tt.file)
		tt.make(t, path)
		if tt.part != "" {
			path += "#" + tt.part
		}
		code, _, errOut := e.run(t, "publish", path, "--as", "odd/x", "--allow-breaking")
		if code != 0 {
			t.Errorf("%s: exit code %d\n%s", tt.name, code, errOut)
			continue
		}
		got, err := csv.NewReader(strings.NewReader(e.must(t, "export", "odd/x"))).ReadAll()
		must.NoError(t, err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: CSV (-want +got):\n%s", tt.name, diff)
		}
		got = [][]string{tt.want[0]}
		for line := range strings.Lines(e.must(t, "export", "odd/x", "--format", "ndjson")) {
			var record map[string]string
			must.NoError(t, json.Unmarshal([]byte(line), &record))
			cells := make([]string, len(tt.want[0]))
			for i, name := range tt.want[0] {
				cells[i] = record[name]
			}
			got = append(got, cells)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: NDJSON (-want +got):\n%s", tt.name, diff)
		}
	}
}

func makeBook(t *testing.T, path string) {
	f := excelize.NewFile()
	defer f.Close()
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	for cell, v := range map[string]any{
		"A1": "code", "B1": "day", "C1": "price", "D1": "yes", "E1": "text",
		"A2": "007", "B2": day, "C2": 1.5, "D2": true, "E2": " é\n植",
		"B3": day.Add(30 * time.Hour), "C3": 0.1, "D3": false, "E3": "<&>",
	} {
		must.NoError(t, f.SetCellValue("Sheet1", cell, v))
	}
	style, err := f.NewStyle(&excelize.Style{NumFmt: 14})
	must.NoError(t, err)
	must.NoError(t, f.SetCellStyle("Sheet1", "B2", "B2", style))
	_, err = f.NewSheet("More")
	must.NoError(t, err)
	for cell, v := range map[string]any{"A1": "a", "B1": "b", "A2": 1, "B3": 2} {
		must.NoError(t, f.SetCellValue("More", cell, v))
	}
	must.NoError(t, f.SaveAs(path))
}

// makeWideBook makes a workbook whose header names two columns, with a value in the third.
func makeWideBook(t *testing.T, path string) {
	f := excelize.NewFile()
	defer f.Close()
	for cell, v := range map[string]any{"A1": "a", "B1": "b", "A2": 1, "B2": 2, "C2": 3, "A3": 4} {
		must.NoError(t, f.SetCellValue("Sheet1", cell, v))
	}
	must.NoError(t, f.SaveAs(path))
}

func makeDatabase(t *testing.T, path string) {
	db, err := sql.Open("sqlite", path)
	must.NoError(t, err)
	defer db.Close()
	for _, statement := range []string{
		`CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT, price REAL, note)`,
		`CREATE TABLE other (x)`,
		`CREATE VIEW names AS SELECT name FROM plants`,
		`INSERT INTO plants VALUES (1, 'Rosé', 1.5, 'a,b')`,
		`INSERT INTO plants VALUES (9007199254740993, 'it''s' || char(10) || '植', 0.1, NULL)`,
		`INSERT INTO plants VALUES (-3, NULL, 1e20, '007')`,
	} {
		_, err := db.ExecContext(t.Context(), statement)
		must.NoError(t, err)
	}
}

func makeParquet(t *testing.T, path string) {
	type row struct {
		ID    int64     `parquet:"id"`
		Name  *string   `parquet:"name,optional"`
		Price float64   `parquet:"price"`
		Day   int32     `parquet:"day,date"`
		At    time.Time `parquet:"at,timestamp(millisecond)"`
		OK    bool      `parquet:"ok"`
		Tags  []string  `parquet:"tags,list"`
	}
	var b bytes.Buffer
	must.NoError(t, parquet.Write(&b, []row{
		{9007199254740993, new("Rosé\n\"x\""), 0.1, 19782, time.Date(2024, 2, 29, 10, 30, 0, 123e6, time.UTC), true,
			[]string{"a", "b"}},
		{-1, nil, 1.5, -1, time.Date(1969, 12, 31, 23, 59, 59, 999e6, time.UTC), false, nil},
	}))
	rewrite(t, path, b.String())
}

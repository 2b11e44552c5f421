//go:build unix

package clienttest

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestInterop_snippets runs the programs that the API page of a dataset offers, for an open dataset
// and one that requires a key, with a filter, an order and hostile names of columns. Neither CI nor
// most machines have pandas and R; Excel and Power BI have no parser to run here.
func TestInterop_snippets(t *testing.T) {
	t.Parallel()
	const name = `it's "a", [b] ${c} #(lf) {d} \e %f 植物`
	rows := [][]string{{name, "code", "price", "seen", "NA"}, {"x'y", "007", "1.5", "2024-01-02", "NA"},
		{`a "b", c`, "010", "", "", "ü"}, {"other", "1", "9", "2024-01-03", ""}}
	var source strings.Builder
	must.NoError(t, csv.NewWriter(&source).WriteAll(rows))
	for _, access := range []string{"open", "key"} {
		t.Run(access, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "shop")
			must.NoError(t, os.Mkdir(folder, 0o755))
			writeFile(t, filepath.Join(folder, "odd.csv"), source.String())
			settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data"), "HERBARIUM_ACCESS=" + access}
			server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Args: []string{folder},
				Settings: settings})
			must.NoError(t, err)
			t.Cleanup(server.Kill)
			key := ""
			if access == "key" {
				key = createKey(t, settings, "data:read")
			}
			query := url.Values{name + "[ne]": {"other"}, "sort": {"-code"}, "_fields": {`code,price,seen,NA`}}
			programs := snippetsOf(t, server.URL+"/datasets/shop/odd/api?"+query.Encode(), key)
			for tool, program := range programs {
				if key != "" && strings.Contains(program, key) {
					t.Errorf("the program for %s contains the key", tool)
				}
			}
			runSnippets(t, programs, key)
			runTables(t, programs, key, map[string]string{
				"pandas": "assert list(table.code) == ['010', '007'] and table.price.dtype == float and " +
					"table.seen.dtype.kind == 'M' and list(table.NA) == ['ü', 'NA']",
				"R": "stopifnot(identical(table$code, c('010', '007')), is.numeric(table$price), " +
					"inherits(table$seen, 'Date'), identical(table[['NA']], c('ü', 'NA')))",
			})
			runDuckDB(t, programs["DuckDB"], key, []string{`,1.5,`})
			// The whole version, with the column that has a hostile name, is a Parquet file.
			whole := snippetsOf(t, server.URL+"/datasets/shop/odd/api", key)
			runDuckDB(t, whole["DuckDB"], key, []string{name, "x'y", `a "b", c`, `,"1.5",`, `,"2024-01-02",`, "null"})
			runTables(t, whole, key, map[string]string{
				"pandas": "assert list(table.code) == ['007', '010', '1'] and float(table.price.max()) == 9 and " +
					"str(table.seen.max()) == '2024-01-03' and table.price.isna().sum() == 1",
				"R": "stopifnot(identical(table$code, c('007', '010', '1')), max(table$price, na.rm = TRUE) == " +
					"9, inherits(table$seen, 'Date'), sum(is.na(table$price)) == 1)",
			})
			for _, tool := range []string{"DuckDB", "pandas", "R"} {
				if strings.Contains(programs[tool], ".parquet") ||
					!strings.Contains(whole[tool], "/data.parquet?_version=") {
					t.Errorf("%s reads a filtered view with\n%s\nand the whole version with\n%s", tool, programs[tool],
						whole[tool])
				}
			}
		})
	}
}

// snippetsOf returns the programs of an API page by the name of their tool.
func snippetsOf(t *testing.T, page, key string) map[string]string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, nil)
	must.NoError(t, err)
	req.AddCookie(&http.Cookie{Name: "herbarium_key", Value: key})
	res, err := http.DefaultClient.Do(req)
	must.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	doc, err := html.Parse(res.Body)
	must.NoError(t, err)
	programs := map[string]string{}
	tool := ""
	for n := range doc.Descendants() {
		switch {
		case n.Data == "summary" && n.Parent.Data == "details":
			tool = n.FirstChild.Data
		case n.Data == "code" && n.Parent.Data == "pre" && tool != "":
			programs[tool], tool = n.FirstChild.Data, ""
		}
	}
	return programs
}

// runSnippets runs each program and looks for the values of the two rows in its output.
func runSnippets(t *testing.T, programs map[string]string, key string) {
	t.Helper()
	ordered := []string{"010", "007"}
	for _, tt := range []struct {
		tool, file string
		before     string // what the tool provides
		after      string
		command    []string
		want       []string
	}{
		{tool: "curl", file: "call.sh", command: []string{"sh"}, want: ordered},
		{tool: "JavaScript", file: "call.mjs", command: []string{"node"}, want: ordered},
		{tool: "Python", file: "call.py", command: []string{"python3"}, want: ordered},
		{tool: "Go", file: "call.go", command: []string{"go", "run"}, want: []string{"010", "007", "2 records"}},
		{
			tool: "Observable", file: "cell.mjs", command: []string{"node"},
			want:   append(ordered, "price: 1.5", "price: null", "2024-01-02T00:00:00.000Z"),
			before: "const Secret = (name) => process.env[name];\nconst cell = async () => ",
			after:  ";\nconsole.log(await cell());",
		},
		{
			tool: "Google Sheets", file: "script.mjs", command: []string{"node"}, want: append(ordered, "1.5"),
			before: sheets, after: "\nimportRows();",
		},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			program := programs[tt.tool]
			switch {
			case tt.tool == "Observable":
				_, program, _ = strings.Cut(program, "table = ")
			case tt.tool == "Google Sheets" && key == "":
				program = formula(t, program)
			}
			if _, err := exec.LookPath(tt.command[0]); err != nil {
				programtest.SkipWithout(t, tt.command[0], tt.command[0]+" is not installed")
			}
			file := filepath.Join(t.TempDir(), tt.file)
			writeFile(t, file, tt.before+program+tt.after)
			out := runWithKey(t, exec.CommandContext(t.Context(), tt.command[0],
				append(slices.Clone(tt.command[1:]), file)...), key)
			if strings.Contains(out, "other") {
				t.Errorf("the filter has no effect:\n%s", out)
			}
			at := 0
			for _, want := range tt.want {
				i := strings.Index(out, want)
				if i < 0 || want == ordered[1] && i < at {
					t.Errorf("no %q, or in another order:\n%s\n%s", want, out, program)
				}
				at = i
			}
		})
	}
}

// runTables runs the programs for pandas and R, each followed by a check, where they are installed.
func runTables(t *testing.T, programs map[string]string, key string, checks map[string]string) {
	t.Helper()
	for tool, command := range map[string][]string{"pandas": {"python3", "-c", "import pandas, pyarrow"},
		"R": {"Rscript", "-e", "library(arrow)"}} {
		if exec.CommandContext(t.Context(), command[0], command[1:]...).Run() != nil {
			t.Logf("%s is not installed", tool)
			continue
		}
		file := filepath.Join(t.TempDir(), "program")
		writeFile(t, file, programs[tool]+"\n"+checks[tool]+"\n")
		runWithKey(t, exec.CommandContext(t.Context(), command[0], file), key)
	}
}

// sheets is the part of Google Apps Script that the program uses.
const sheets = `import { execFileSync } from "node:child_process";
const PropertiesService = { getScriptProperties: () => ({ getProperty: (name) => process.env[name] }) };
const UrlFetchApp = { fetch: (url, { headers }) => ({ getContentText: () => execFileSync("curl", ["-sf", ...Object.entries(headers).flatMap(([k, v]) => ["-H", k + ": " + v]), url]).toString() }) };
const Utilities = { parseCsv: (text) => text.trim().split("\r\n").map((line) => line.split(",")) };
const range = { setValues: (rows) => console.log(rows) };
const SpreadsheetApp = { getActiveSheet: () => ({ clear: () => ({ getRange: () => range }) }) };
const IMPORTDATA = (url) => range.setValues(Utilities.parseCsv(UrlFetchApp.fetch(url, { headers: {} }).getContentText()));
`

// formula returns a formula of Google Sheets as a program.
func formula(t *testing.T, formula string) string {
	t.Helper()
	literal, ok := strings.CutPrefix(formula, `=IMPORTDATA("`)
	literal, closed := strings.CutSuffix(literal, `")`)
	if !ok || !closed {
		t.Fatalf("the formula is %s", formula)
	}
	address, err := json.Marshal(strings.ReplaceAll(literal, `""`, `"`))
	must.NoError(t, err)
	return "const importRows = () => IMPORTDATA(" + string(address) + ");"
}

// duckdb is the command line of DuckDB as far as the program uses it.
const duckdb = `#!/bin/sh
exec node --input-type=module -e '
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
const { DuckDBInstance } = createRequire(process.env.MODULES + "/")("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const result = await connection.runAndReadAll(readFileSync(process.stdin.fd, "utf8"));
console.log("%s", JSON.stringify([result.columnNames(), ...result.getRowsJson()]));
'
`

// runDuckDB runs the program for DuckDB and looks for texts in the result.
func runDuckDB(t *testing.T, program, key string, want []string) {
	t.Helper()
	modules := programtest.NodeModules(t, "@duckdb/node-api")
	folder := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(folder, "duckdb"), []byte(duckdb), 0o755))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", program)
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "MODULES=" + modules}
	out := runWithKey(t, cmd, key)
	for _, text := range append(want, "007") {
		encoded, err := json.Marshal(text)
		must.NoError(t, err)
		if !strings.Contains(out, text) && !strings.Contains(out, strings.Trim(string(encoded), `"`)) {
			t.Errorf("the result lacks %s:\n%s\n%s", text, out, program)
		}
	}
}

// runWithKey runs a command that finds the key in its environment and returns its output.
func runWithKey(t *testing.T, cmd *exec.Cmd, key string) string {
	t.Helper()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "HERBARIUM_KEY="+key, "LC_ALL=C.UTF-8")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%v: %s", err, stderr.String())
	}
	return string(out)
}

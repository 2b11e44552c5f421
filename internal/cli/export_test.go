package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/cli"
	"herbarium/internal/must"
)

// oddFiles returns CSV files whose values programs easily alter.
func oddFiles() map[string]string {
	wide := make([]string, 300)
	for i := range wide {
		wide[i] = fmt.Sprintf("c%d", i)
	}
	var many strings.Builder
	many.WriteString("n,text\n")
	for i := range 3000 {
		fmt.Fprintf(&many, "%05d,\"line %d\r\nof %d, \"\"quoted\"\"\"\n", i, i, i*7)
	}
	return map[string]string{
		"plain":            "id,name\n1,Rose\n2,Fern\n",
		"crlf":             "id,name\r\n1,Rose\r\n2,Fern\r\n",
		"cr":               "id,name\r1,Rose\r2,Fern",
		"no-end":           "id,name\n1,Rose\n2,Fern",
		"bom":              "\uFEFFid,name\n1,Rose\n",
		"bom-inside":       "id,name\n\uFEFF1,\uFEFF\n",
		"quotes":           "a,b\n\"\",\"\"\"\"\n\"say \"\"hi\"\"\",it's\na\"b,c\"\"d\n",
		"line-ends-inside": "a,b\n\"x\r\ny\",\"\r\"\n\"\n\",\"\n\r\n\"\n\"a\rb\",c\n",
		"leading-zeros":    "zip,code,phone\n00042,1e5,+49 30\n01067,0x10,-0\n1.50,.5,5.\n",
		"large-numbers":    "n,m\n123456789012345678901234567890,0.10000000000000000000001\n9007199254740993,-0.0\n",
		"dates":            "d,e\n2024-02-29,03/04/2024\n,2024-02-30\n",
		"unicode":          "größe,名前\nÅngström,植物園\ne\u0301,é\n😀,\u2028\u00a0x\u200b\n\u202eabc,ﬁ\n",
		"blanks":           "a,b,c\n x , y,z \n\" \",\"\t\",\"\ta\t\"\n  ,,\u00a0\n",
		"empty-values":     "a,b,c\nx,,\n,,z\n",
		"empty-column":     "a\n\"\"\nx\n\"\"\n",
		"one-column":       "a\nx\n\"y,z\"\n\" \"\n",
		"no-records":       "a,b\n",
		"ragged":           "a,b,c\n1\n1,2\n1,2,3\n",
		"lists":            "id,tags\n1,\"red,green\"\n2,\"red, green\"\n3,\",\"\n4,red\n5,\"green,,red\"\n",
		"NULs":             "a,b\n\x00,x\x00y\n\x01,\x1f\x7f\n",
		"backslashes":      "a,b\n\\,\\n\nC:\\dir\\,\"\\\"\"\"\n\\u0041,\\\\\n",
		"formulas":         "a,b\n=1+1,@SUM(A1)\n+1,-1\n\"=cmd|' /C calc'!A0\",\"\t=1\"\n",
		"json-like":        "a,b\n\"{\"\"x\"\":1}\",[1]\nnull,true\n</script>,&amp;\n",
		"semicolons":       "a;b\nx,y;z\n\"p;q\";\"r\"\"s\"\n",
		"semicolon-name":   "\"a;b\"\nx\ny;z\n",
		"odd-names":        "\"a,b\",\"c\"\"d\",\"e\nf\",page,sort\n1,2,3,4,5\n",
		"long-cells": "a,b\n" + strings.Repeat("x", 300_000) + ",\"" + strings.Repeat("y\"\"\n,", 60_000) +
			"\"\nshort,\n",
		"wide": strings.Join(wide, ",") + "\n" + strings.Repeat("v,", 299) + "v\n" +
			strings.Repeat(",", 298) + "v\n",
		"many": many.String(),
	}
}

// cellsOf parses CSV exactly: quoted values keep every byte. It pads short lines.
func cellsOf(t *testing.T, file string, comma byte) (rows [][]string) {
	t.Helper()
	file = strings.TrimPrefix(file, "\uFEFF")
	var row []string
	for at := 0; at < len(file); {
		var cell []byte
		quoted := file[at] == '"'
		if quoted {
			for at++; ; at++ {
				if at == len(file) {
					t.Fatal("a quote is not closed")
				}
				if file[at] == '"' {
					at++
					if at == len(file) || file[at] != '"' {
						break
					}
				}
				cell = append(cell, file[at])
			}
		} else {
			for ; at < len(file) && file[at] != comma && file[at] != '\r' && file[at] != '\n'; at++ {
				cell = append(cell, file[at])
			}
		}
		row = append(row, string(cell))
		if at < len(file) && file[at] == comma {
			at++
			if at == len(file) || file[at] == '\r' || file[at] == '\n' {
				row = append(row, "")
			} else {
				continue
			}
		}
		switch {
		case strings.HasPrefix(file[at:], "\r\n"):
			at += 2
		case at < len(file) && (file[at] == '\r' || file[at] == '\n'):
			at++
		case at < len(file):
			t.Fatalf("%q stands behind a value", file[at:min(at+20, len(file))])
		}
		if quoted || len(row) > 1 || row[0] != "" { // not a blank line
			rows = append(rows, row)
		}
		row = nil
	}
	for i := range rows {
		for len(rows[i]) < len(rows[0]) {
			rows[i] = append(rows[i], "")
		}
	}
	return rows
}

// TestExport_specialFiles publishes odd files, exports them in both formats, and publishes and
// exports the export: no byte of a cell may change on the way.
func TestExport_specialFiles(t *testing.T) {
	t.Parallel()
	for name, content := range oddFiles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, dir := newEnvironment(t), t.TempDir()
			comma := byte(',')
			if name == "semicolons" {
				comma = ';'
			}
			want := cellsOf(t, content, comma)
			source := filepath.Join(dir, "source.csv")
			must.NoError(t, os.WriteFile(source, []byte(content), 0o600))
			e.must(t, "publish", source, "--as", "odd/first")
			first := e.must(t, "export", "odd/first")
			if diff := cmp.Diff(want, cellsOf(t, first, ',')); diff != "" {
				t.Fatalf("CSV (-source +export):\n%.3000s", diff)
			}
			if _, err := csv.NewReader(strings.NewReader(first)).ReadAll(); err != nil {
				t.Errorf("Go's reader: %v", err)
			}
			if lines := e.must(t, "export", "odd/first", "--format", "ndjson"); !equalNDJSON(t, want, lines) {
				t.Errorf("NDJSON is\n%.3000s", lines)
			}
			again := filepath.Join(dir, "again.csv")
			e.must(t, "export", "odd/first", "-o", again)
			e.must(t, "publish", again, "--as", "odd/second")
			if second := e.must(t, "export", "odd/second"); second != first {
				t.Errorf("the export of the export is another (-first +second):\n%.3000s", cmp.Diff(first, second))
			}
		})
	}
}

// equalNDJSON compares lines of JSON with the cells of a file.
func equalNDJSON(t *testing.T, want [][]string, lines string) bool {
	t.Helper()
	got := strings.SplitAfter(lines, "\n")
	got = got[:len(got)-1]
	if len(got) != len(want)-1 {
		return false
	}
	for i, line := range got {
		d := json.NewDecoder(strings.NewReader(line))
		var tokens []string
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok {
				tokens = append(tokens, s)
			}
		}
		var cells []string
		for j, name := range want[0] {
			cells = append(cells, name, want[i+1][j])
		}
		if !slices.Equal(tokens, cells) {
			t.Log(cmp.Diff(cells, tokens))
			return false
		}
	}
	return true
}

func TestExport(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", garden)
	all := e.must(t, "export", "garden/catalog")
	rows, err := csv.NewReader(strings.NewReader(all)).ReadAll()
	if err != nil || len(rows) < 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	column := slices.Index(rows[0], "category")
	trees := 0
	for _, row := range rows[1:] {
		if row[column] == rows[1][column] {
			trees++
		}
	}
	asked := "?category=" + rows[1][column] + "&sort=title&order=desc"
	some := e.must(t, "export", "garden/catalog", "--query", asked, "--format", "NDJSON")
	if got := strings.Count(some, "\n"); got != trees || trees == 0 {
		t.Errorf("%d records of a category, want %d", got, trees)
	}
	file := filepath.Join(t.TempDir(), "all.jsonl")
	e.must(t, "export", "garden/catalog", "-o", file)
	content, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(content, []byte("{")) || bytes.Count(content, []byte("\n")) != len(rows)-1 {
		t.Errorf("%s has %.100q, %v", file, content, err)
	}
	if out := e.must(t, "export", "garden/catalog", "--output", "-"); out != all {
		t.Error("to - is not to standard output")
	}
	if out := e.must(t, "export", "store/plants"); out != "id,name,tag\r\n" {
		t.Errorf("no plants are %q", out)
	}
}

func TestExport_invalid(t *testing.T) {
	t.Parallel()
	e, dir := newEnvironment(t), t.TempDir()
	e.must(t, "publish", garden)
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no dataset", nil, 2, "expected one namespace/dataset"},
		{"no name of a dataset", []string{"Catalog"}, 2, "namespace/dataset"},
		{"unknown dataset", []string{"garden/catalogue"}, 1, `did you mean "garden/catalog"?`},
		{"unknown format", []string{"garden/catalog", "--format", "xml"}, 2, "choose csv, ndjson, xlsx or geojson"},
		{"a name of another format", []string{"garden/catalog", "-o", filepath.Join(dir, "x.parquet")}, 2,
			"x.parquet: unsupported export format"},
		{"page", []string{"garden/catalog", "--query", "page=2"}, 2, `"page" is given, but an export has no pages`},
		{"unknown field", []string{"garden/catalog", "--query", "categori=tree"}, 2, `did you mean "category"?`},
		{"folder", []string{"garden/catalog", "-o", dir}, 2, "is a folder"},
		{"missing folder", []string{"garden/catalog", "-o", filepath.Join(dir, "no", "file.csv")}, 1, "no such file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code, out, errOut := e.run(t, append([]string{"export"}, tt.args...)...)
			if code != tt.code || !strings.Contains(errOut, tt.want) || out != "" {
				t.Errorf("exit code %d\n%s%s", code, out, errOut)
			}
		})
	}
}

// TestExport_file checks that the output file appears only when it is complete, and that no
// temporary file remains.
func TestExport_file(t *testing.T) {
	t.Parallel()
	e, dir := newEnvironment(t), t.TempDir()
	e.must(t, "publish", garden)
	file, link := filepath.Join(dir, "catalog.csv"), filepath.Join(dir, "link.csv")
	must.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	must.NoError(t, os.Symlink("catalog.csv", link))
	content := func() string {
		t.Helper()
		b, err := os.ReadFile(file)
		must.NoError(t, err)
		return string(b)
	}
	code, _, _ := e.run(t, "export", "garden/catalog", "-o", file, "--query", "sort=nothing")
	if code == 0 || content() != "old" {
		t.Errorf("after a failure, code %d, the file is %q", code, content())
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	code = cli.Run(stopped, []string{"export", "garden/catalog", "-o", file},
		cli.Terminal{Out: &out, Err: &out, Env: e.lookup})
	if code == 0 || content() != "old" {
		t.Errorf("when it is stopped, code %d, the file is %q\n%s", code, content(), &out)
	}
	e.must(t, "export", "garden/catalog", "-o", link)
	if content() != e.must(t, "export", "garden/catalog") {
		t.Error("the file behind a link is not what is exported")
	}
	e.must(t, "export", "garden/catalog", "-o", os.DevNull)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("there are %v, %v", entries, err)
	}
	if info, err := os.Lstat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s has become %v, %v", os.DevNull, info.Mode(), err)
	}
}

// TestExport_served exports a published dataset and the plants from a running server.
func TestExport_served(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.serve(t, garden)
	r := s.do(t, "GET", "/api/v1/garden/catalog/data?sort=title", "", "Accept", "text/csv")
	if want := e.must(t, "export", "garden/catalog", "--query", "sort=title"); r.Status != 200 || r.Body != want {
		t.Errorf("%d %v, not what the command writes", r.Status, r.Header)
	}
	token := strings.TrimSpace(e.must(t, "keys", "create", "--name", "t", "--scope", "plants:write"))
	for i, name := range []string{"Rose", `Fern, "wild"`, "Årum"} {
		plant := fmt.Sprintf(`{"id":%d,"name":%q,"tag":"t"}`, 3-i, name)
		if status, body := s.create(t, token, plant); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	const want = "id,name,tag\r\n1,Årum,t\r\n2,\"Fern, \"\"wild\"\"\",t\r\n3,Rose,t\r\n"
	r = s.do(t, "GET", "/api/v1/store/plants/data?tag=t&sort=id", "", "Accept", "text/csv")
	if r.Status != 200 || r.Body != want || r.Header.Get("X-Total-Count") != "3" {
		t.Errorf("got %d %q", r.Status, r.Body)
	}
	if got := e.must(t, "export", "store/plants", "--query", "tag=t&sort=id"); got != want {
		t.Errorf("the command writes %q", got)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "plants.csv", "id,name,kind\n1,Rose,shrub\n2,Fern,herb\n3,Rosemary,shrub\n"),
		"--as", "a/b")
	out := e.must(t, "explain", "a/b", "kind=shrub&search=ros*&sort=name")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{"STEP METHOD RECORDS TIME", "kind eq shrub fill 2", `search "ros"* `,
		"records 1 to 2 sorted by name 2", "total 2"}
	if len(lines) != len(want) {
		t.Fatalf("%d lines; want %d:\n%s", len(lines), len(want), out)
	}
	for i, line := range lines {
		line = strings.Join(strings.Fields(line), " ")
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d is %q; want %q …", i, line, want[i])
		}
	}
	e.prints(t, "sorted by kind, name descending", "explain", "a/b", "sort=kind,-name")
	e.fails(t, 2, "unknown parameter", "explain", "a/b", "nothing=1")
	e.fails(t, 1, "only published datasets", "explain", "store/plants", "")
}

// TestExplain_version reads an earlier version with explain and export.
func TestExplain_version(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "plants.csv", "id,name\n1,Rose\n"), "--as", "a/b")
	version := strings.Fields(strings.Split(e.must(t, "datasets", "history", "a/b"), "\n")[1])[0]
	e.must(t, "publish", write(t, "plants.csv", "id,name\n1,Rose\n2,Fern\n"), "--as", "a/b")
	if out := e.must(t, "export", "a/b", "--query", "?_version="+version+"&sort=id"); out != "id,name\r\n1,Rose\r\n" {
		t.Errorf("the first version is %q", out)
	}
	e.prints(t, "records 1 to 1", "explain", "a/b", "_version="+version)
	for asked, want := range map[string]struct {
		code    int
		message string
	}{
		"_version=20200101T000000Z-abcdefghij":         {1, "versions: "},
		"_version=" + version + "&_version=" + version: {2, "more than once"},
		"_version=" + version + "&per_page=1":          {2, "an export has no pages"},
		"_version=" + version + "&category=tree":       {2, "unknown parameter"},
	} {
		if code, _, errOut := e.run(t, "export", "a/b", "--query", asked); code != want.code ||
			!strings.Contains(errOut, want.message) {
			t.Errorf("%s: exit code %d, %s", asked, code, errOut)
		}
	}
}

// TestExport_geoJSON publishes records with positions, exports them as GeoJSON, and publishes the
// file: every field has the same values.
func TestExport_geoJSON(t *testing.T) {
	t.Parallel()
	e, dir := newEnvironment(t), t.TempDir()
	const source = "n,name,latitude,longitude\n1,Rose,52.5200,13.405\n2,\"a " +
		"\"\"b\"\",\nc\",-90,180\n03,,90.0,-180\n4,nowhere,,\n"
	file, again := filepath.Join(dir, "places.csv"), filepath.Join(dir, "places.geojson")
	must.NoError(t, os.WriteFile(file, []byte(source), 0o600))
	e.must(t, "publish", file, "--as", "geo/first")
	e.must(t, "export", "geo/first", "-o", again)
	e.must(t, "publish", again, "--as", "geo/second")
	fields := "_fields=n,name,latitude,longitude"
	if want, got := e.must(t, "export", "geo/first"),
		e.must(t, "export", "geo/second", "--query", fields); got != want {
		t.Errorf("the records of the file (-source +file):\n%s", cmp.Diff(want, got))
	}
	features := e.must(t, "export", "geo/second", "--format", "geojson", "--query", fields)
	if content, err := os.ReadFile(again); err != nil || features != string(content) {
		t.Errorf("the file of the file (-first +second), %v:\n%s", err, cmp.Diff(string(content), features))
	}
	e.must(t, "publish", garden)
	code, out, errOut := e.run(t, "export", "garden/catalog", "--format", "geojson")
	if code != 2 || out != "" || !strings.Contains(errOut, "garden/catalog has no coordinates") {
		t.Errorf("without coordinates: exit code %d, %s%s", code, out, errOut)
	}
}

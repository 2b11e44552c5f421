package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/cli"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
)

// publishedJSON is a line of publish --json.
type publishedJSON struct {
	Dataset, Status, Error, Version, Replaces string
	Records                                   int
	Changes                                   []versions.Change
	Report                                    *herb.Report
}

// parseLines parses the output of --json, which must be nothing but JSON.
func parseLines(t *testing.T, out string) []publishedJSON {
	t.Helper()
	var all []publishedJSON
	for line := range strings.Lines(out) {
		var p publishedJSON
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%q is not JSON: %v", line, err)
		}
		all = append(all, p)
	}
	return all
}

// rewrite replaces the content of a file.
func rewrite(t *testing.T, path, content string) {
	t.Helper()
	must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// versions returns the files of published versions.
func (e environment) versions(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(e["HERBARIUM_DATA"], "versions", "*.segment*"))
	must.NoError(t, err)
	return len(files)
}

func TestPublish_rejected(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n007,1.50\n008,2\n009,3\n")
	if out := e.must(t, "publish", file); strings.Count(out, "\n") != 2 {
		t.Errorf("a plain publish says more than two lines:\n%s", out)
	}
	rewrite(t, file, "code,cost\n007,1.50\n")
	code, out, errOut := e.run(t, "publish", file)
	if code != 3 || out != "" {
		t.Errorf("exit code %d, output %q; want 3 and none", code, out)
	}
	for _, want := range []string{
		`herbarium: shop/prices: rejected`, `- field "price" appears to be renamed to "cost"`,
		"- more than half of the records are missing: 1 instead of 3", "--allow-breaking",
		"1 of 1 datasets not published",
	} {
		if !strings.Contains(errOut, want) {
			t.Errorf("no %q in\n%s", want, errOut)
		}
	}
	if out := e.must(t, "datasets", "show", "shop/prices"); !strings.Contains(out, "3 records") || e.versions(t) != 1 {
		t.Errorf("%d files; the dataset is now\n%s", e.versions(t), out)
	}
	e.must(t, "publish", file, "--allow-breaking")
	if out := e.must(t, "datasets", "show", "shop/prices"); !strings.Contains(out, "1 record,") ||
		!strings.Contains(out, "cost") {
		t.Errorf("after --allow-breaking the dataset is\n%s", out)
	}
}

func TestPublish_oneOfSeveralRejected(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	a := write(t, "shop/a.csv", "x,y\n1,2\n")
	dir := filepath.Dir(a)
	rewrite(t, filepath.Join(dir, "b.csv"), "x\n1\n")
	e.must(t, "publish", dir)
	rewrite(t, a, "x\n1\n")
	rewrite(t, filepath.Join(dir, "b.csv"), "x\n1\n2\n")
	rewrite(t, filepath.Join(dir, "c.csv"), "x\n1,2,3\n")
	code, out, errOut := e.run(t, "publish", "--json", dir)
	got := map[string]string{}
	for _, p := range parseLines(t, out) {
		got[p.Dataset] = p.Status
	}
	if code != 3 || got["shop/a"] != "rejected" || got["shop/b"] != "published" || got["shop/c"] != "failed" ||
		len(got) != 3 {
		t.Errorf("exit code %d, %v\n%s", code, got, errOut)
	}
	if !strings.Contains(errOut, "2 of 3 datasets not published") {
		t.Errorf("standard error does not name the failed dataset:\n%s", errOut)
	}
	rewrite(t, a, "x,y\n1,2\n3,4\n")
	if code, _, _ := e.run(t, "publish", dir); code != 1 {
		t.Errorf("exit code %d with a file that cannot be read; want 1", code)
	}
}

func TestPublish_json(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price,when\n007,1.50,01/02/2024\n008,,03/04/2024\n")
	run := func(status string, args ...string) publishedJSON {
		t.Helper()
		_, out, errOut := e.run(t, append([]string{"publish", "--json", file}, args...)...)
		all := parseLines(t, out)
		if len(all) != 1 || all[0].Dataset != "shop/prices" || all[0].Status != status {
			t.Fatalf("publish %v: want %s, got %+v\n%s", args, status, all, errOut)
		}
		return all[0]
	}
	if p := run("checked", "--check"); p.Version != "" || p.Report.Rows != 2 || e.versions(t) != 0 {
		t.Errorf("checked: %+v, %d files", p, e.versions(t))
	}
	first := run("published")
	if first.Version == "" || first.Records != 2 || first.Report.Columns[1].Evidence != "number: 1 of 2; 1 empty" ||
		first.Report.Columns[1].Max != "1.50" || !strings.HasPrefix(first.Report.Cells, "sha256:") ||
		!strings.HasPrefix(first.Report.Columns[2].Evidence, "text: ") {
		t.Errorf("published: %+v", first)
	}
	if p := run("unchanged"); p.Version != first.Version || p.Report.Cells != first.Report.Cells {
		t.Errorf("unchanged: %+v", p)
	}
	rewrite(t, file, "code,price,when\n007,cheap,01/02/2024\n008,2,\n")
	p := run("rejected")
	if p.Error == "" || p.Replaces != first.Version || p.Version != "" || len(p.Changes) == 0 ||
		p.Changes[0].Kind != versions.TypeChanged {
		t.Errorf("rejected: %+v", p)
	}
	if p := run("published", "--allow-breaking"); p.Replaces != first.Version {
		t.Errorf("allowed: %+v", p)
	}
	var report herb.Report
	out := e.must(t, "datasets", "report", "shop/prices", "--json", "--version", first.Version)
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Cells != first.Report.Cells {
		t.Errorf("datasets report --json: %v\n%s", err, out)
	}
}

func TestPublish_report(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n007,1.50\n008,\n")
	table := []string{"csv, comma between values; 2 rows", "content hash: sha256:", "FIELD", "number: 1 of 2; 1 empty",
		`"007" (line 2)`}
	wants := func(what, out string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", what, want, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			t.Errorf("%s: output has colors although it is not a terminal", what)
		}
	}
	code, out, errOut := e.run(t, "publish", "--check", file)
	wants("check", out, append(table, "checked shop/prices: 2 records, not published", "new dataset")...)
	wants("check", errOut, `note: code: numbers with leading zeros, such as "007" (line 2), are kept as text`)
	if code != 0 || e.versions(t) != 0 {
		t.Errorf("check: exit code %d, %d files", code, e.versions(t))
	}
	wants("report", e.must(t, "publish", "--report", file), append(table, "published shop/prices: 2 records")...)
	wants("datasets report", e.must(t, "datasets", "report", "shop/prices"),
		append(table, "note: code: numbers with leading zeros")...)
	rewrite(t, file, "code,added,price\n007,x,1.50\n")
	code, out, errOut = e.run(t, "publish", "--check", file)
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, errOut)
	}
	wants("check again", out, `+ field "added" is added, a text`, "~ the number of records is 1 instead of 2")
	rewrite(t, file, "price\n1.50\n")
	code, out, errOut = e.run(t, "publish", "--check", file)
	wants("rejected check", out, "FIELD", `- field "code" is removed`)
	wants("rejected check", errOut, "rejected", "1 of 1 datasets would not be published")
	if code != 3 {
		t.Errorf("rejected check: exit code %d; want 3", code)
	}
	e.prints(t, "mutable", "datasets", "history", "store/plants")
	e.fails(t, 1, "no report", "datasets", "report", "store/plants")
}

// TestPublish_hostileNames publishes values that would move the cursor of a terminal.
// TestPublish_layout publishes a file with rows that are not records: the command prints the first
// of them and how to keep them, the report lists all.
func TestPublish_layout(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv",
		"Prices,,\n\ncode,price,stock\na,1.50,2\nb,2,3\n,,\nc,3,4\n\nSource: shop\nNote: no tax\n")
	code, out, errOut := e.run(t, "publish", file)
	const kept = "; set header=none to keep all, or header=3 to keep those below it"
	for _, want := range []string{"note: header: line 3 names the columns\n",
		"note: left out: 4 lines: 1 (above the table: Prices,,), 6 (no value), 9 (footnote: Source: shop) and 1 " +
			"more, which the report lists" + kept} {
		if code != 0 || !strings.Contains(errOut, want) {
			t.Errorf("exit code %d, no %q in\n%s%s", code, want, out, errOut)
		}
	}
	report := e.must(t, "datasets", "report", "shop/prices")
	for _, want := range []string{"lines of the file that are not records: 5 (1 header, 4 left out)\n",
		"left out: line 10 (footnote: Note: no tax)\n"} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	if out := e.must(t, "publish", file, "--header", "none", "--as", "shop/all"); !strings.Contains(out, "7 records") {
		t.Errorf("with --header none:\n%s", out)
	}
	_, _, errOut = e.run(t, "publish", write(t, "shop/plain.csv", "code,price\na,1.50\nb,2\n"))
	if strings.Contains(errOut, "note:") {
		t.Errorf("notes about a plain table:\n%s", errOut)
	}
}

func TestPublish_hostileNames(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/x.csv", "a\x1b[2J,b\n\x1b[31mred,\x07\n \x1b[1m,1\n")
	for _, args := range [][]string{
		{"publish", "--check", file}, {"publish", "--report", file}, {"datasets", "report", "shop/x"},
	} {
		if code, out, errOut := e.run(t, args...); code != 0 || strings.ContainsAny(out+errOut, "\x1b\x07") {
			t.Errorf("%v: exit code %d, control characters in\n%q\n%q", args, code, out, errOut)
		}
	}
}

// feed executes a command with a standard input.
func (e environment) feed(ctx context.Context, in io.Reader, args ...string) (code int, out, errOut string) {
	var o, eo bytes.Buffer
	code = cli.Run(ctx, args, cli.Terminal{In: in, Out: &o, Err: &eo, Env: e.lookup})
	return code, o.String(), eo.String()
}

// inputCopies counts the temporary copies of standard input.
func inputCopies(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(os.TempDir(), "herbarium-*"))
	must.NoError(t, err)
	return len(files)
}

// TestPublish_input does not run in parallel with other tests, because it counts the temporary
// files of all of them.
func TestPublish_input(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	e := newEnvironment(t)
	for _, tt := range []struct {
		name, in string
		args     []string
		code     int
		want     string // part of the output
	}{
		{"CSV", "code;price\n007;1.50\n", []string{"publish", "-", "--as", "s/csv"}, 0, "published s/csv: 1 record,"},
		{"the same again", "code;price\n007;1.50\n", []string{"publish", "-", "--as", "s/csv"}, 0, "unchanged s/csv"},
		{"a format that is named", "{\"a\":1}\n{\"a\":2}", []string{"publish", "-", "--as", "s/lines", "--format",
			"ndjson"}, 0, "published s/lines: 2 records"},
		{"gzip", gzipped(t, "a\n1\n"), []string{"publish", "-", "--as", "s/gzip", "--access", "key"}, 0,
			"published s/gzip: 1 record,"},
		{"a bad line", "a,b\n1,2,3\n", []string{"publish", "-", "--as", "s/bad"}, 1, "standard input: line 2: "},
		{"nothing", "", []string{"publish", "-", "--as", "s/bad"}, 1, "standard input: the file is empty"},
		{"no name", "a\n", []string{"publish", "-"}, 2, "set one with --as namespace/dataset"},
		{"and a file", "a\n", []string{"publish", "-", "x.csv", "--as", "s/two"}, 2, "expected one file"},
		{"an unknown format", "a\n", []string{"publish", "-", "--as", "s/x", "--format", "xml"}, 2,
			`unknown format "xml"; valid formats: csv, `},
		{"an unknown encoding", "a\n", []string{"publish", "-", "--as", "s/x", "--encoding", "klingon"}, 2,
			`unknown encoding "klingon"; `},
		{"the name of the plants", "a\n", []string{"publish", "-", "--as", "store/plants"}, 1,
			"store/plants is reserved"},
		{"described", "a|b\n1|2\n", []string{"describe", "-"}, 0, `"path": "records.csv"`},
		{"described under a name", "[{\"a\":1}]", []string{"describe", "-", "--as", "shop/prices"}, 0,
			"save the described data next to it as prices.json"},
		{"described, bad", "a,b\n1,2,3\n", []string{"describe", "-"}, 1, "standard input: line 2: "},
		{"described with a header", "1|2\n", []string{"describe", "-", "--header", "none"}, 0, `"header": false`},
		{"a name for a file", "a\n", []string{"describe", "x.csv", "--as", "a/b"}, 2, "--as applies to standard input"},
		{"a wrong header", "a\n", []string{"describe", "-", "--header", "0"}, 2, "--header"},
		{"a wrong delimiter", "a\n", []string{"publish", "-", "--as", "s/x", "--delimiter", "::"}, 2, "--delimiter"},
		{"negative skip", "a\n", []string{"publish", "-", "--as", "s/x", "--skip", "-1"}, 2, "--skip"},
	} {
		code, out, errOut := e.feed(t.Context(), strings.NewReader(tt.in), tt.args...)
		if code != tt.code || !strings.Contains(out+errOut, tt.want) {
			t.Errorf("%s: exit code %d, want %d and %q\n%s%s", tt.name, code, tt.code, tt.want, out, errOut)
		}
		if n := inputCopies(t); n > 0 {
			t.Errorf("%s: %d temporary files are left", tt.name, n)
		}
	}
	if out := e.must(t, "export", "s/csv"); out != "code,price\r\n007,1.50\r\n" {
		t.Errorf("what came from standard input is %q", out)
	}
}

// TestPublish_inputStopped stops a command that waits for its standard input.
func TestPublish_inputStopped(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, args := range [][]string{{"publish", "-", "--as", "s/x"}, {"describe", "-"}} {
		ctx, cancel := context.WithCancel(t.Context())
		pr, pw := io.Pipe()
		go func() {
			_, _ = io.WriteString(pw, "a\n1\n") // when this returns, the command is reading
			cancel()
		}()
		if code, _, errOut := newEnvironment(t).feed(ctx, pr, args...); code != 1 || inputCopies(t) > 0 {
			t.Errorf("%v: exit code %d, %d temporary files\n%s", args, code, inputCopies(t), errOut)
		}
	}
}

// TestPublish_format names the format of files.
func TestPublish_format(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/x.csv", "a\tb,c\n1\t2,3\n")
	e.must(t, "publish", file, "--format", "tsv")
	if out := e.must(t, "export", "shop/x"); out != "a,\"b,c\"\r\n1,\"2,3\"\r\n" {
		t.Errorf("got %q", out)
	}
	rewrite(t, filepath.Join(filepath.Dir(file), "datapackage.json"), `{"resources":[{"path":"x.csv"}]}`)
	e.fails(t, 2, "cannot be combined with a descriptor", "publish", filepath.Dir(file), "--format", "tsv")
	if out := e.must(t, "__complete", "publish", "--format", ""); !strings.HasPrefix(out, "csv\n") {
		t.Errorf("the formats are completed with %q", out)
	}
}

// TestPublish_explains checks that a rejected publish shows the value that caused it, and a note
// the column that was meant.
func TestPublish_explains(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "a.csv", "id,price\n1,5\n2,7\n"), "--as", "shop/a")
	code, _, errOut := e.run(t, "publish", write(t, "a.csv", "id,price\n1,5\n2,seven\n"), "--as", "shop/a")
	if want := `field "price" is a text instead of a number (text: "seven" (line 3) is not a number`; code != 3 ||
		!strings.Contains(errOut, want) {
		t.Errorf("exit code %d; want 3 and %q in\n%s", code, want, errOut)
	}
	folder := filepath.Dir(write(t, "b.csv", "id,price,title\n1,5,Rose\n"))
	descriptor := `{"name":"shop","resources":[{"path":"b.csv","schema":{"fields":[{"name":"id"},{"name":"prize"}]}}]}`
	must.NoError(t, os.WriteFile(filepath.Join(folder, "datapackage.json"), []byte(descriptor), 0o600))
	code, _, errOut = e.run(t, "publish", folder)
	if want := `describes as prize; it is left out; is "prize" the column "price"?`; code != 0 ||
		!strings.Contains(errOut, want) {
		t.Errorf("exit code %d; want 0 and %q in\n%s", code, want, errOut)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	out := e.must(t, "describe", garden+"/catalog.csv")
	if !strings.HasPrefix(out, "{\n") || !strings.Contains(out, `"name": "catalog"`) {
		t.Errorf("got %.300s", out)
	}
	dir := filepath.Join(t.TempDir(), "garden")
	must.NoError(t, os.CopyFS(dir, os.DirFS(garden)))
	descriptor := filepath.Join(dir, "datapackage.yaml")
	must.NoError(t, os.WriteFile(descriptor, []byte(e.must(t, "describe", "--yaml", dir)), 0o600))
	if out := e.must(t, "publish", dir); !strings.HasPrefix(out, "published garden/catalog: ") {
		t.Errorf("the descriptor: got %s", out)
	}
	for _, args := range [][]string{{"describe"}, {"describe", dir, dir}} {
		e.fails(t, 2, "expected one file or folder to describe", args...)
	}
	if code, out, errOut := e.run(t, "describe", filepath.Join(dir, "none.csv")); code != 1 || out != "" ||
		!strings.Contains(errOut, "no such file or directory") {
		t.Errorf("exit code %d: %s%s", code, out, errOut)
	}
}

func TestPublish_skipsOtherFiles(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.csv": "x\n1\n", "logo.png": "",
		"datapackage.json": `{"name":"n","resources":[{"path":"a.csv"},{"path":"logo.png"}]}`,
	} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	code, out, errOut := e.run(t, "publish", dir)
	if code != 0 || !strings.HasPrefix(out, "published n/a: 1 record,") || !strings.Contains(errOut, "note: ") ||
		!strings.Contains(errOut, "(logo.png) is not published") {
		t.Errorf("exit code %d\n%s%s", code, out, errOut)
	}
}

// TestPublish_force publishes a file that has not changed, as after an upgrade to a program that
// reads it differently.
func TestPublish_force(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	file := write(t, "shop/prices.csv", "code,price\n1,2\n")
	e.must(t, "publish", file)
	e.must(t, "publish", file)
	if n := strings.Count(e.must(t, "datasets", "history", "shop/prices"), "Z-"); n != 1 {
		t.Errorf("%d versions after an unchanged file was published again", n)
	}
	e.must(t, "publish", "--force", file)
	if n := strings.Count(e.must(t, "datasets", "history", "shop/prices"), "Z-"); n != 2 {
		t.Errorf("%d versions after publish --force", n)
	}
}

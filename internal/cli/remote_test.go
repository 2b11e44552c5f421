package cli_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
)

// publishTo returns a server, and the environment of a publisher on another machine with a key for
// everything in a namespace.
func publishTo(t *testing.T, namespace string) (*server, environment) {
	t.Helper()
	e := newEnvironment(t)
	s := e.serve(t)
	publisher := newEnvironment(t)
	publisher["HERBARIUM_KEY"] = strings.TrimSpace(e.must(t, "keys", "create", "--name", "ci", "--scope",
		"publish:"+namespace+"/*"))
	return s, publisher
}

// varying matches what differs between two publishes of the same file.
var varying = regexp.MustCompile(
	`\d{8}T\d{6}Z-[a-z0-9]{10}|"published_at":"[^"]*"|Created data folder .*\n|Data folder: .*\n|(?m:^shop/\S+: [a-z ]+(?:\(\d/\d\))?(?: [0-9hms]+)?, .*\n)`)

// both publishes files on the machine of the data and over HTTP.
type both struct {
	here, there   environment
	local, server *server
}

func newBoth(t *testing.T) both {
	t.Helper()
	here := newEnvironment(t)
	server, there := publishTo(t, "shop")
	return both{here, there, here.serve(t), server}
}

// publish publishes a file in both ways, expects the same output and the same exit code, and
// returns them.
func (b both) publish(t *testing.T, name, path string, args ...string) (code int, output string) {
	t.Helper()
	args = append([]string{"publish", path}, args...)
	code, out, errOut := b.here.run(t, args...)
	remoteCode, remoteOut, remoteErr := b.there.run(t, append(args, "--to", b.server.url)...)
	plain := func(s string) string {
		return varying.ReplaceAllString(strings.ReplaceAll(s, filepath.Dir(path)+"/", ""), "…")
	}
	if code != remoteCode || plain(out) != plain(remoteOut) ||
		strings.ReplaceAll(plain(errOut), "…", "") != strings.ReplaceAll(plain(remoteErr), "…", "") {
		t.Errorf("%s: local exit code %d and output\n%s%s\nremote exit code %d and output\n%s%s", name, code,
			plain(out), plain(errOut), remoteCode, plain(remoteOut), plain(remoteErr))
	}
	return code, out + errOut
}

// compareListings expects that both servers list the same bytes.
func (b both) compareListings(t *testing.T, name, dataset string) {
	t.Helper()
	for _, path := range []string{"/data", "/data.ndjson"} {
		_, want := b.local.get(t, "/api/v1/"+dataset+path)
		if status, got := b.server.get(t, "/api/v1/"+dataset+path); status != http.StatusOK || got != want {
			t.Errorf("%s: %s of the remote dataset is %d %s; want %s", name, path, status, got, want)
		}
	}
}

// TestPublishTo_sameAsLocal runs the same publishes on the machine of the data and over HTTP: exit
// codes, output and listings are the same.
func TestPublishTo_sameAsLocal(t *testing.T) {
	t.Parallel()
	const prices = "code;price\n007;1.50\n008;2\n009;3\n"
	steps := []struct {
		name    string
		files   []string // name, content, ...
		path    string
		args    []string
		code    int
		message string // that both print
		dataset string
	}{
		{"check of a new dataset", []string{"shop/prices.csv", prices}, "shop/prices.csv", []string{"--check"}, 0,
			"checked shop/prices: 3 records", ""},
		{"new dataset", nil, "shop/prices.csv", nil, 0, "published shop/prices: 3 records", "shop/prices"},
		{"unchanged", nil, "shop/prices.csv", nil, 0, "unchanged shop/prices: 3 records", "shop/prices"},
		{"report", []string{"shop/prices.csv", prices + "010;4\n"}, "shop/prices.csv", []string{"--report"}, 0,
			"TYPE AND EVIDENCE", "shop/prices"},
		{"rejected", []string{"shop/prices.csv", "code;cost\n007;1.50\n"}, "shop/prices.csv", nil, 3,
			`appears to be renamed to "cost"`, "shop/prices"},
		{"rejected check", nil, "shop/prices.csv", []string{"--check"}, 3, "would not be published", "shop/prices"},
		{"allowed", nil, "shop/prices.csv", []string{"--allow-breaking"}, 0, "published shop/prices: 1 record",
			"shop/prices"},
		{"unreadable", []string{"shop/broken.csv", "a,b,c\n1,2,3\n4,5,6,7\n"}, "shop/broken.csv", nil, 1, "line 3", ""},
		{"other name and flags", []string{"x/export.txt", "title\n\n# remark\n1|2\n3|4\n"}, "x/export.txt",
			[]string{"--as", "shop/export", "--skip", "2", "--header", "none", "--comment", "#", "--delimiter", "|"}, 0,
			"published shop/export: 2 records", "shop/export"},
		{"descriptor", []string{
			"pack/datapackage.yaml",
			"name: shop\nresources:\n- name: stock\n  path: stock.csv\n  title: What we sell\n  schema:\n    " +
				"primaryKey: id\n    fields:\n    - {name: id, herbarium: {from: Code}}\n    - {name: name, type: " +
				"string}\n",
			"pack/stock.csv", "Code,name\n1,Rose\n2,Fern\n",
		}, "pack/datapackage.yaml", []string{"--report"}, 0, "primary key: id", "shop/stock"},
		{"records in a descriptor", []string{
			"inline/datapackage.json",
			`{"name":"shop","resources":[{"name":"beds","data":[{"bed":"A","size":3},{"bed":"B","size":4}]}]}`,
		}, "inline/datapackage.json", nil, 0, "published shop/beds: 2 records", "shop/beds"},
		{"several tables", []string{"shop/lists.json", `{"roses":[{"a":1},{"a":2}],"ferns":[{"b":1},{"b":2},{"b":3}]}`},
			"shop/lists.json", nil, 0,
			"2 datasets published, 0 unchanged, 0 failed", "shop/lists-ferns"},
		{"one table", nil, "shop/lists.json#roses", []string{"--as", "shop/roses"}, 0,
			"published shop/roses: 2 records", "shop/roses"},
		{"unchanged, but forced", nil, "shop/lists.json#roses", []string{"--as", "shop/roses", "--force"}, 0,
			"published shop/roses: 2 records", "shop/roses"},
		{"protected", []string{"shop/staff.csv", "name\nAnn\nBob\n"}, "shop/staff.csv", []string{"--access", "key"}, 0,
			"published shop/staff", ""},
		{"as JSON", []string{"shop/prices.csv", "code;cost\n007;1.75\n"}, "shop/prices.csv",
			[]string{"--json", "--check"}, 0, `"status":"checked"`, "shop/prices"},
	}
	b := newBoth(t)
	folder := t.TempDir()
	for _, step := range steps {
		for i := 0; i < len(step.files); i += 2 {
			path := filepath.Join(folder, step.files[i])
			must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			rewrite(t, path, step.files[i+1])
		}
		code, output := b.publish(t, step.name, filepath.Join(folder, step.path), step.args...)
		if code != step.code || !strings.Contains(output, step.message) {
			t.Errorf("%s: exit code %d, want %d\n%s", step.name, code, step.code, output)
		}
		if step.dataset != "" {
			b.compareListings(t, step.name, step.dataset)
		}
	}
	for _, args := range [][]string{{"history", "shop/prices"}, {"history", "shop/prices", "--json"},
		{"history", "shop/none"}, {"report", "shop/prices"}, {"report", "shop/stock", "--json"}} {
		args = append([]string{"datasets"}, args...)
		code, out, _ := b.here.run(t, args...)
		remoteCode, remoteOut, _ := b.there.run(t, append(args, "--to", b.server.url)...)
		sent := regexp.MustCompile(`,"source":\{[^}]*\}`) // files that the command publishes are not kept
		plain := func(s string) string {
			return regexp.MustCompile(
				`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`).ReplaceAllString(varying.ReplaceAllString(s, "…"), "…")
		}
		if code != remoteCode || plain(out) != plain(sent.ReplaceAllString(remoteOut, "")) {
			t.Errorf("%q ends with %d and prints\n%s\nfor a server with %d\n%s", args, code, out, remoteCode, remoteOut)
		}
	}
	if status, _ := b.server.get(t, "/api/v1/shop/staff/data"); status != http.StatusUnauthorized {
		t.Errorf("status of a dataset with --access key: %d", status)
	}
	if _, err := os.Stat(b.there["HERBARIUM_DATA"]); !os.IsNotExist(err) {
		t.Errorf("a publish to a server created a data folder: %v", err)
	}
}

// TestPublishTo_corpus publishes all files that package ingest is tested with, in both ways:
// output, errors and listings are the same, byte for byte.
func TestPublishTo_corpus(t *testing.T) {
	t.Parallel()
	b, folder := newBoth(t), t.TempDir()
	published, failed := 0, 0
	publish := func(name, file, content string, part ...string) {
		path := filepath.Join(folder, strconv.Itoa(published+failed), file)
		rowstest.WriteFile(t, filepath.Dir(path), file, content)
		path = strings.Join(append([]string{path}, part...), "#")
		dataset := fmt.Sprintf("shop/d%d", published+failed)
		if code, _ := b.publish(t, name, path, "--as", dataset); code != 0 {
			failed++
			return
		}
		published++
		b.compareListings(t, name, dataset)
	}
	for _, f := range rowstest.UnusualFiles() {
		publish(f.Name, f.File, f.Content)
	}
	for _, f := range rowstest.UnreadableFiles() {
		publish(f.Name, f.File, f.Content)
	}
	odd, err := filepath.Glob("../ingest/testdata/odd/*")
	must.NoError(t, err)
	for _, path := range odd {
		content, err := os.ReadFile(path)
		must.NoError(t, err)
		publish(path, filepath.Base(path), string(content))
	}
	for _, f := range formatCases(t) {
		path := filepath.Join(t.TempDir(), f.file)
		f.make(t, path)
		content, err := os.ReadFile(path)
		must.NoError(t, err)
		publish(f.name, f.file, string(content)) // several tables fail
		if f.part != "" {
			publish(f.name, f.file, string(content), f.part)
		}
	}
	publish("archive of several files", "x.zip", rowstest.Zip(t, "a.csv=a,b\n1,2\n", "b.csv=a,b\n3,4\n"))
	t.Logf("%d files published, %d failed", published, failed)
	if published < 60 || failed < 30 {
		t.Errorf("%d files were published and %d failed", published, failed)
	}
}

// TestPublishTo_standardInput publishes standard input on this machine and on a server.
func TestPublishTo_standardInput(t *testing.T) {
	t.Parallel()
	b := newBoth(t)
	for i, tt := range []struct {
		input   string
		args    []string
		code    int
		message string
	}{
		{"a,b\n1,2\n", nil, 0, ": 1 record, version"},
		{"a;b\n1,2;3\n", []string{"--delimiter", ";", "--access", "key"}, 0, ": 1 record, version"},
		{rowstest.Gzip(`[{"a":1},{"a":2}]`), []string{"--format", "json"}, 0, ": 2 records, version"},
		{`{"a":[{"x":1},{"x":2}],"b":[{"y":1},{"y":3}]}`, nil, 1,
			"standard input has 2 tables; name one of them, in a file, such as FILE#a: a, b"},
		{"", nil, 1, "standard input: the file is empty"},
		{"%PDF-1.7", nil, 1, "standard input: the file is a PDF document"},
	} {
		args := append([]string{"publish", "-", "--as", fmt.Sprintf("shop/fed%d", i)}, tt.args...)
		code, out, errOut := b.here.feed(t.Context(), strings.NewReader(tt.input), args...)
		remoteCode, remoteOut, remoteErr := b.there.feed(t.Context(), strings.NewReader(tt.input),
			append(args, "--to", b.server.url+"/")...)
		plain := func(s string) string {
			return strings.ReplaceAll(
				varying.ReplaceAllString(strings.ReplaceAll(s, "file: the", "standard input: the"), "…"), "…", "")
		}
		if code != tt.code || remoteCode != code || plain(out) != plain(remoteOut) ||
			plain(errOut) != plain(remoteErr) || !strings.Contains(out+errOut, tt.message) {
			t.Errorf("%q: exit code %d\n%s%s\nremote exit code %d\n%s%s", tt.input, code, out, errOut, remoteCode,
				remoteOut, remoteErr)
		}
	}
}

func TestPublishTo_keys(t *testing.T) {
	t.Parallel()
	s, e := publishTo(t, "shop")
	file := write(t, "shop/prices.csv", "a,b\n1,2\n")
	keyFile := write(t, "key", e["HERBARIUM_KEY"]+"\n")
	args := []string{"publish", file, "--to", s.url}
	e.fails(t, 1, "key", append(args, "--as", "other/prices")...) // no scope for this namespace
	e["HERBARIUM_KEY"] = ""
	e.fails(t, 2, "HERBARIUM_KEY", args...)
	e["HERBARIUM_KEY"] = "herb_k7q2mzx4ab_" + strings.Repeat("a", 32)
	e.fails(t, 1, "key", args...)
	e.must(t, append(args, "--key-file", keyFile)...) // instead of the variable
	e.fails(t, 2, "is empty", append(args, "--key-file", write(t, "none", "\n"))...)
	e.fails(t, 2, "cannot read the key", append(args, "--key-file", filepath.Join(t.TempDir(), "missing"))...)
	e.fails(t, 2, "is not a key", append(args, "--key-file", write(t, "lines", "a\nb"))...)
}

func TestPublishTo_usage(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e["HERBARIUM_KEY"] = "herb_k7q2mzx4ab_" + strings.Repeat("a", 32)
	file := write(t, "shop/prices.csv", "a,b\n1,2\n")
	for _, c := range []struct {
		message string
		args    []string
	}{
		{"not the address of a server", []string{"--to", "example.org"}},
		{"not the address of a server", []string{"--to", "https://"}},
		{"not the address of a server", []string{"--key-file", write(t, "key", "x")}},
		{"no user, query or fragment", []string{"--to", "https://me:secret@example.org"}},
		{"--keep concerns data of this machine", []string{"--to", "https://example.org", "--keep", "3"}},
		{"--data concerns data of this machine", []string{"--to", "https://example.org", "--data", "x"}},
	} {
		e.fails(t, 2, c.message, append([]string{"publish", file}, c.args...)...)
	}
	parts := write(t, "p/datapackage.json", `{"name":"shop","resources":[{"name":"all","path":["a.csv","b.csv"]}]}`)
	put(t, filepath.Join(filepath.Dir(parts), "a.csv"), "a\n1\n")
	put(t, filepath.Join(filepath.Dir(parts), "b.csv"), "a\n2\n")
	e.fails(t, 1, "shop/all has 2 files, and one can be sent", "publish", parts, "--to", "http://127.0.0.1:1")
	database := write(t, "shop/stock.db", "")
	makeDatabase(t, database)
	put(t, database+"-wal", "changes")
	e.fails(t, 1, "stock.db-wal, which would be lost", "publish", database+"#plants", "--to", "http://127.0.0.1:1")
}

// TestPublishTo_flags gives each flag of the command for a server: it works, or is refused.
func TestPublishTo_flags(t *testing.T) {
	t.Parallel()
	s, e := publishTo(t, "shop")
	values := map[string]string{ // none for flags without a value
		"as": "shop/other", "access": "key", "comment": "#", "delimiter": ",", "widths": "1,1,1", "encoding": "utf-8",
		"format": "csv", "header": "1", "skip": "0",
		"key-file": write(t, "key", e["HERBARIUM_KEY"]), "cache-size": "1GiB", "keep": "3", "message": "Autumn",
		"keep-for": "90d", "retention": "1h", "data": "x", "database": "postgres://x/y", "blobs": "s3://x",
		"config": write(t, "herbarium.yaml", "keep: 3\n"), "log-format": "json", "log-level": "error",
	}
	refused := []string{"cache-size", "keep", "keep-for", "retention", "data", "database", "blobs"}
	file := write(t, "shop/prices.csv", "a,b\n1,2\n")
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(e.must(t, "publish", "--help"),
		-1)
	for _, flag := range flags {
		name := flag[1]
		if name == "to" || name == "help" {
			continue
		}
		if name == "refresh" {
			e.fails(t, 2, "--refresh is for a file at an address", "publish", file, "--to", s.url, "--refresh", "1h")
			continue
		}
		args := []string{"publish", file, "--to", s.url, "--" + name}
		if value := values[name]; value != "" {
			args = append(args, value)
		}
		if slices.Contains(refused, name) {
			e.fails(t, 2, "--"+name+" concerns data of this machine; it cannot be combined with --to", args...)
			continue
		}
		e.must(t, args...)
	}
	if len(flags) < len(values) {
		t.Errorf("the help lists the flags %v", flags)
	}
}

func TestDatasetsTo(t *testing.T) {
	t.Parallel()
	s, e := publishTo(t, "shop")
	file := write(t, "shop/prices.csv", "code,price\n1,1.50\n2,2\n")
	publish := func(args ...string) string {
		t.Helper()
		return parseLines(t, e.must(t, append([]string{"publish", file, "--to", s.url, "--json"},
			args...)...))[0].Version
	}
	first := publish()
	rewrite(t, file, "code,price\n1,1.50\n2,2\n3,4\n")
	second := publish()
	rewrite(t, file, "code,price\n1,1.50\n2,2\n3,4\n4,5\n")
	third := publish()
	to := []string{"shop/prices", "--to", s.url}
	run := func(command string, args ...string) []string {
		return append(append([]string{"datasets", command}, to...), args...)
	}
	e.prints(t, "shop/prices: 4 records, version "+third+"\n  source: csv", run("report")...)
	e.prints(t, `"rows":4`, run("report", "--json", "--version", third)...)
	e.prints(t, `"rows":2`, run("report", "--json", "--version", first)...)
	e.fails(t, 1, "version", run("report", "--version", "20200101T000000Z-aaaaaaaaaa")...)
	if out := e.must(t, run("rollback")...); out != "shop/prices: version "+second+" is live\n" {
		t.Errorf("rollback printed %q", out)
	}
	for _, version := range []string{third, first} { // neither is the one before the live one
		e.prints(t, `"version":"`+version+`"`, run("rollback", "--version", version, "--json")...)
	}
	if n := s.total(t, "/api/v1/shop/prices/data"); n != 2 {
		t.Errorf("%d records after a rollback to the first version", n)
	}
	e.fails(t, 1, "version", run("rollback", "--version", "20200101T000000Z-aaaaaaaaaa")...)
	e.fails(t, 2, "not the address of a server", "datasets", "report", "shop/prices", "--to", "example.org")
	e.fails(t, 2, "--data concerns data of this machine", run("report", "--data", "x")...)
	e.fails(t, 2, "add --yes", run("remove")...)

	publish("--access", "key")
	e.prints(t, "source: csv", run("report")...) // the key may publish it
	if out := e.must(t, run("remove", "--yes")...); out != "removed shop/prices\n" {
		t.Errorf("remove printed %q", out)
	}
	e.fails(t, 1, "shop/prices", run("remove", "--yes")...)
	if status, _ := s.get(t, "/api/v1/shop/prices"); status != http.StatusNotFound {
		t.Errorf("status of a removed dataset: %d", status)
	}
	if _, err := os.Stat(e["HERBARIUM_DATA"]); !os.IsNotExist(err) {
		t.Errorf("a command for a server created a data folder: %v", err)
	}
}

//go:build linux

package systemtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// A recording is an installation that an earlier program has written, with the responses of that
// program. Recordings are never written again: what an earlier program has stored does not change.
//
//	go test ./internal/systemtest -run '^TestRecord$' -record
//
// writes those that are missing, for commits of the history.
var record = flag.Bool("record", false, "record installations of earlier programs that have no recording")

// recording is the content of a file in testdata/recorded.
type recording struct {
	Key       string     // with the scopes data:read and plants:write, and publish if the program knows it
	Revoked   string     // a key that was revoked
	Publishes bool       // the program publishes over HTTP, and has drafts
	Draft     string     // path of a draft; empty if there is none
	Retried   retry      // a plant that was created with an idempotency key
	Commands  []output   // what commands printed
	Responses []recorded // of the server
}

type retry struct{ IdempotencyKey, Body, Response string }

// output is what a command printed, one JSON object per line.
type output struct {
	Args []string
	Out  string
}

// recorded is a response to a GET request.
type recorded struct {
	Path   string
	Status int
	Type   string // Content-Type
	Tag    string // ETag
	Body   string
}

// Names in the file of a recording. Files of the installation are in the folder "files".
const (
	recordingFile = "recording.json"
	backupFile    = "backup.tar"
	dumpFile      = "database.sql"
	filesPrefix   = "files/"
)

func recordingPath(name string) string { return filepath.Join("testdata", "recorded", name+".tar.gz") }

// recordings names the recordings: the commit of the program, and where it has stored its data.
func recordings() []string {
	names := []string{beforeRules + "-folder"}
	for _, commit := range []string{release090, beforeCore} {
		names = append(names, commit+"-folder", commit+"-shared")
	}
	return names
}

// TestRecord writes recordings.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("recordings are written with -record only")
	}
	var s *services
	for _, name := range recordings() {
		if _, err := os.Stat(recordingPath(name)); err == nil {
			t.Logf("%s exists", name)
			continue
		}
		commit, place, _ := strings.Cut(name, "-")
		var i *installation
		if place == "folder" {
			i = newFolder(t)
		} else {
			if s == nil {
				s = newServices(t)
			}
			i = s.newShared(t)
		}
		files := recordInstallation(t, i.with(buildEarlier(t, commit)), commit == beforeCore)
		content := archive(t, files)
		must.NoError(t, os.MkdirAll(filepath.Dir(recordingPath(name)), 0o755))
		must.NoError(t, os.WriteFile(recordingPath(name), content, 0o644))
		t.Logf("%s: %d bytes", name, len(content))
	}
}

// recordInstallation creates an installation and returns the files of its recording.
func recordInstallation(t *testing.T, i *installation, publishes bool) map[string][]byte {
	t.Helper()
	r := recording{Publishes: publishes}
	sources := writeSources(t)
	if out, code := i.try(t, "publish", sources); code != 1 || !strings.Contains(out, "broken") { // the broken file
		t.Fatalf("publish: exit code %d\n%s", code, out)
	}
	for version := range 6 {
		i.run(t, "publish", "--as", "garden/prices", prices(t, 20+version, version+1))
	}
	i.run(t, "datasets", "rollback", "garden/prices")
	scopes := []string{"--scope", "data:read", "--scope", "plants:write"}
	if publishes {
		scopes = append(scopes, "--scope", "publish")
	}
	r.Key = strings.TrimSpace(i.run(t, append([]string{"keys", "create", "--name", "live"}, scopes...)...))
	r.Revoked = strings.TrimSpace(i.run(t, "keys", "create", "--name", "revoked", "--scope", "data:read"))
	i.run(t, "keys", "revoke", "revoked")

	n := i.start(t, sources) // records the error of the broken file
	r.Retried = retry{IdempotencyKey: "recorded-1", Body: `{"id":1,"name":"Rosa canina","tag":"shrub"}`}
	for id, body := range []string{r.Retried.Body, `{"id":2,"name":"Acer campestre","tag":""}`,
		`{"id":3,"name":"Ångströms Rose"}`, `{"id":40,"name":"Quercus robur"}`} {
		a, err := post(t.Context(), n.URL, r.Key, body, "Idempotency-Key", fmt.Sprintf("recorded-%d", id+1))
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("creating %s: %v %d %s", body, err, a.Status, a.Body)
		}
		if id == 0 {
			r.Retried.Response = a.Body
		}
	}
	if publishes {
		n.mustPut("sent/prices", r.Key, "id,name,price\n1,Ash,3\n2,Birch,4.50\n")
		last := "id,name,price\n1,Ash,3\n2,Birch,4.50\n3,Cherry,7\n"
		n.mustPut("sent/prices", r.Key, last)
		n.eventuallyExports("sent/prices", strings.ReplaceAll(last, "\n", "\r\n"), "Authorization", "Bearer "+r.Key)
		r.Draft = createDraft(t, n, r.Key)
	}
	r.Responses = recordResponses(t, n, i, r)
	backup := filepath.Join(t.TempDir(), backupFile)
	i.run(t, "backup", backup)
	stopNode(t, n)
	for _, args := range [][]string{{"datasets", "list"}, {"datasets", "history", "garden/prices"}, {"keys", "list"},
		{"audit"}} {
		r.Commands = append(r.Commands, output{args, i.list(t, append(args, "--json")...)})
	}

	out := map[string][]byte{}
	for name, content := range i.files(t) {
		out[filesPrefix+name] = content
	}
	if i.database != "" {
		out[dumpFile] = dumpDatabase(t, i.database)
	}
	var err error
	out[backupFile], err = os.ReadFile(backup)
	must.NoError(t, err)
	out[recordingFile], err = json.MarshalIndent(r, "", " ")
	must.NoError(t, err)
	return out
}

// createDraft sends a file as the page for publishers does, and returns the path of its draft.
func createDraft(t *testing.T, n *node, key string) (path string) {
	t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	must.NoError(t, w.WriteField("namespace", "sent"))
	must.NoError(t, w.WriteField("dataset", "drafted"))
	part, err := w.CreateFormFile("file", "drafted.csv")
	must.NoError(t, err)
	_, err = io.WriteString(part, "id,name\n1,draft one\n2,draft two\n")
	must.NoError(t, errors.Join(err, w.Close()))
	r, err := n.request(http.MethodPost, "/publish", form.String(), "Content-Type", w.FormDataContentType(), "Cookie",
		"herbarium_key="+key)
	must.NoError(t, err)
	path = r.Header.Get("Location")
	if r.Status != http.StatusSeeOther || path == "" {
		t.Fatalf("POST /publish: %d %s", r.Status, r.Body)
	}
	return path
}

// recordResponses requests everything that clients read of an installation.
func recordResponses(t *testing.T, n *node, i *installation, r recording) (all []recorded) {
	t.Helper()
	catalogue := n.recordResponse("/api/v1", r.Key)
	all = append(all, catalogue, n.recordResponse("/api/v1/search?search=rose", r.Key))
	var body struct {
		Datasets []struct{ Namespace, Name string }
	}
	must.NoError(t, json.Unmarshal([]byte(catalogue.Body), &body))
	for _, d := range body.Datasets {
		base := "/api/v1/" + d.Namespace + "/" + d.Name
		description := n.recordResponse(base, r.Key)
		all = append(all, description)
		for _, path := range requestsOf(t, base, description.Body) {
			all = append(all, n.recordResponse(path, r.Key))
		}
		if r.Publishes && d.Namespace != "store" {
			for _, path := range []string{"/versions", "/source", "/descriptor"} {
				all = append(all, n.recordResponse(base+path, r.Key))
			}
		}
	}
	for _, version := range versionsOf(t, i, "garden/prices") {
		all = append(all, n.recordResponse("/api/v1/garden/prices/data?sort=-price&_version="+version, r.Key))
	}
	return all
}

// versionsOf returns the names of the kept versions of a dataset.
func versionsOf(t *testing.T, i *installation, ref string) (names []string) {
	t.Helper()
	for line := range strings.Lines(i.run(t, "datasets", "history", ref, "--json")) {
		var v struct{ Version string }
		must.NoError(t, json.Unmarshal([]byte(line), &v))
		names = append(names, v.Version)
	}
	return names
}

// requestsOf returns requests for a dataset with a description.
func requestsOf(t *testing.T, base, description string) (paths []string) {
	t.Helper()
	var d struct {
		Fields []struct {
			Name, Type                       string
			Searchable, Filterable, Sortable bool
		}
	}
	must.NoError(t, json.Unmarshal([]byte(description), &d))
	paths = []string{
		"/data", "/data?per_page=3&page=2", "/data.csv", "/data.ndjson", "/data?search=ro*&per_page=5",
		"/data?search=rose+-wild", "/data/2", "/data/0",
		"/data?price[gte]=3&price[lt]=7", "/data?name[prefix]=ro", "/data?name[contains]=os",
		"/data?_fields=name,id&sort=name,-id", "/data.csv?sort=-price,name",
		"/aggregate?_measure=count", "/aggregate?_by=category&_measure=count&_measure=sum:price&_measure=median:price",
		"/aggregate.csv?_by=name&_measure=count",
	}
	for _, f := range d.Fields {
		name := url.QueryEscape(f.Name)
		if f.Sortable {
			paths = append(paths, "/data?sort=-"+name+"&per_page=5")
		}
		if f.Filterable {
			paths = append(paths, "/facets?field="+name+"&top=4&buckets=3")
		}
		if f.Searchable {
			paths = append(paths, "/data?"+name+"[match]=r*")
		}
	}
	for i := range paths {
		paths[i] = base + paths[i]
	}
	return paths
}

// recordResponse sends a GET request with a key.
func (n *node) recordResponse(path, key string) recorded {
	n.t.Helper()
	r, err := programtest.Send(n.t.Context(), client, http.MethodGet, n.URL+path, "", "X-API-Key", key)
	must.NoError(n.t, err)
	return recorded{path, r.Status, r.Header.Get("Content-Type"), r.Header.Get("ETag"), r.Body}
}

// writeSources writes files of every format and one that is broken.
func writeSources(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	words := []string{"Rosa canina", "Rosé wild", "Ångström rose", "Birch", "Çelik", "cherry", "Oak", "élan", "Zed",
		"rose, wild"}
	line := func(n int) []string {
		return []string{fmt.Sprint(n + 1), words[n%len(words)], []string{"tree", "shrub", ""}[n%3],
			fmt.Sprintf("%d.50", n%9), fmt.Sprintf("2024-%02d-%02d", n%12+1, n%28+1)}
	}
	columns := []string{"id", "name", "category", "price", "planted"}
	const records = 24
	var table, lines strings.Builder
	table.WriteString(strings.Join(columns, ",") + "\n")
	var objects []map[string]string
	sheet := excelize.NewFile()
	must.NoError(t, sheet.SetSheetRow("Sheet1", "A1", &columns))
	type row struct {
		ID    int64   `parquet:"id"`
		Name  string  `parquet:"name"`
		Price float64 `parquet:"price"`
	}
	var rows []row
	statements := "CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT, price REAL);"
	for n := range records {
		values := line(n)
		quoted := slices.Clone(values)
		quoted[1] = `"` + quoted[1] + `"`
		table.WriteString(strings.Join(quoted, ",") + "\n")
		object := map[string]string{}
		for c, name := range columns {
			object[name] = values[c]
		}
		objects = append(objects, object)
		encoded, err := json.Marshal(object)
		must.NoError(t, err)
		lines.Write(append(encoded, '\n'))
		must.NoError(t, sheet.SetSheetRow("Sheet1", fmt.Sprintf("A%d", n+2), &values))
		rows = append(rows, row{int64(n + 1), values[1], float64(n) / 4})
		statements += fmt.Sprintf("INSERT INTO rows VALUES (%d, '%s', %d.25);", n+1, values[1], n)
	}
	array, err := json.Marshal(objects)
	must.NoError(t, err)
	var packed, columnar, book bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = io.WriteString(z, table.String())
	must.NoError(t, errors.Join(err, z.Close(), parquet.Write(&columnar, rows), sheet.Write(&book)))
	for name, content := range map[string]string{
		"keyed/catalog.csv":       table.String(),
		"keyed/datapackage.json":  `{"name":"keyed","title":"With a key","resources":[{"name":"catalog","path":"catalog.csv","schema":{"primaryKey":"id"}}]}`,
		"garden/array.json":       string(array),
		"garden/lines.ndjson":     lines.String(),
		"garden/packed.csv.gz":    packed.String(),
		"garden/columnar.parquet": columnar.String(),
		"garden/book.xlsx":        book.String(),
		"garden/broken.parquet":   "this is no Parquet file",
		"vault/people.csv":        "id,name\n1,alice\n2,rose\n",
		"vault/datapackage.json":  protected,
	} {
		write(t, content, folder, filepath.FromSlash(name))
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, "garden", "base.sqlite"))
	must.NoError(t, err)
	_, err = db.ExecContext(t.Context(), statements)
	must.NoError(t, errors.Join(err, db.Close()))
	return folder
}

// dumpDatabase returns the statements that create a database again.
func dumpDatabase(t *testing.T, address string) []byte {
	t.Helper()
	dump, err := exec.CommandContext(t.Context(), programtest.LookPath(t, "pg_dump"), "--inserts", "--no-owner",
		"--no-privileges", address).Output()
	must.NoError(t, err)
	var statements bytes.Buffer
	for line := range bytes.Lines(dump) {
		if !bytes.HasPrefix(line, []byte(`\`)) { // a command of psql
			statements.Write(line)
		}
	}
	return statements.Bytes()
}

// archive returns a compressed archive of files.
func archive(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	must.NoError(t, err)
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		must.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}))
		_, err := w.Write(files[name])
		must.NoError(t, err)
	}
	must.NoError(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

// extract returns the files of an archive.
func extract(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	must.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must.NoError(t, err)
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must.NoError(t, err)
		files[h.Name], err = io.ReadAll(r)
		must.NoError(t, err)
	}
}

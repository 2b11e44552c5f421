//go:build unix

package clienttest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// publishForm publishes a file with a descriptor.
func publishForm(t *testing.T, url, key, file, descriptor string) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, content := range map[string]string{"file": file, "descriptor": descriptor} {
		part, err := form.CreateFormFile(name, "prices.csv")
		must.NoError(t, err)
		_, err = part.Write([]byte(content))
		must.NoError(t, err)
	}
	must.NoError(t, form.Close())
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodPut, url+"/source?_allow_breaking=true", body.String(),
		"X-API-Key", key, "Content-Type", form.FormDataContentType())
	if err != nil || resp.Status/100 != 2 {
		t.Fatalf("%d %v\n%s", resp.Status, err, resp.Body)
	}
}

// sortedRecords returns the records of a table, sorted, each with the names of its columns.
func sortedRecords(t *testing.T, table []byte) (records []string) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	must.NoError(t, err)
	for _, row := range rows[1:] {
		record := map[string]string{}
		for i, name := range rows[0] {
			record[name] = row[i]
		}
		b, err := json.Marshal(record)
		must.NoError(t, err)
		records = append(records, string(b))
	}
	slices.Sort(records)
	return records
}

// TestSync keeps copies of a dataset with the programs in examples/sync.
func TestSync(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "python3"} {
		programtest.LookPath(t, name)
	}
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data")}
	server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Settings: settings})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	key := createKey(t, settings, "publish")
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "key"), key+"\n")
	scripts, err := filepath.Abs("../../examples/sync")
	must.NoError(t, err)
	state := filepath.Join(folder, "version")
	environment := []string{
		"SOURCE_URL=" + server.URL, "TARGET_URL=" + server.URL, "DATASET=shop/prices", "COPY=shop/copy", "PRIMARY_KEY=id",
		"STATE_FILE=" + state, "KEY_FILE=" + filepath.Join(folder, "key"), "TMPDIR=" + t.TempDir(),
	}
	const keyed = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}}]}`
	const unkeyed = `{"resources": [{"path": "prices.csv"}]}`
	const dump = `import csv, sqlite3, sys
rows = sqlite3.connect("copy.db").execute("SELECT * FROM \"the \"\"copy\"\"\"")
w = csv.writer(sys.stdout)
w.writerow(c[0] for c in rows.description)
w.writerows(rows)`
	for i, step := range []struct{ file, descriptor, state string }{
		{"id,name,price\n1,Rose,3.00\n2,\"Oak, \"\"x\"\"\",1\n3,\"a\nb\",\n", keyed, ""},
		{"id,name,price\n1,Rose,3.00\n2,\"Oak, \"\"x\"\"\",1\n3,\"a\nb\",\n", keyed, ""},
		{"id,name,price,kind\n1.0,Rose,3.20,\n3,\"a\nb\",,' x\n4,Fern,2,\n", keyed, ""},
		{"id,kind\n4,a\n5,b\n", keyed, ""},
		{"id,kind\n4,c\n6,b\n", keyed, "20010101T133000Z-abcdefghij"}, // not kept
		{"id,kind\n4,c\n4,c\n4,c\n6,b\n", unkeyed, ""},
		{"id,kind\n4,c\n7,\n7,\n", unkeyed, ""},
	} {
		publishForm(t, server.URL+"/api/v1/shop/prices", key, step.file, step.descriptor)
		if step.state != "" {
			writeFile(t, state, step.state)
			run(t, folder, "python3", "-c", `import sqlite3; db = sqlite3.connect("copy.db"); db.execute("UPDATE herbarium_copies SET version = '`+step.state+`'"); db.commit()`)
		}
		want := sortedRecords(t, get(t, server.URL+"/api/v1/shop/prices/data.csv"))
		run(t, folder, "python3", filepath.Join(scripts, "copy_sqlite.py"), server.URL+"/api/v1/shop/prices", "copy.db", `the "copy"`)
		if d := cmp.Diff(want, sortedRecords(t, run(t, folder, "python3", "-c", dump))); d != "" {
			t.Errorf("step %d: the table differs:\n%s", i, d)
		}
		code, out := runShell(t, folder, environment, filepath.Join(scripts, "copy.sh"))
		if code != 0 || out != "" {
			t.Errorf("step %d: exit code %d\n%s", i, code, out)
		}
		if d := cmp.Diff(want, sortedRecords(t, get(t, server.URL+"/api/v1/shop/copy/data.csv"))); d != "" {
			t.Errorf("step %d: the copy differs:\n%s", i, d)
		}
	}
}

//go:build unix

package clienttest

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodPut, url+"/source?_allow_breaking=true",
		body.String(),
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

// readWithKey returns the body of a response to a request with a key.
func readWithKey(t *testing.T, url, key string) []byte {
	t.Helper()
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, url, "", "X-API-Key", key)
	if err != nil || resp.Status != http.StatusOK {
		t.Fatalf("%s: %d %v\n%s", url, resp.Status, err, resp.Body)
	}
	return []byte(resp.Body)
}

// TestSync keeps copies of a dataset with the programs in examples/sync. From a step on, the
// dataset and therefore its copies require a key.
func TestSync(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"curl", "python3"} {
		programtest.LookPath(t, name)
	}
	settings := []string{"HERBARIUM_DATA=" + filepath.Join(t.TempDir(), "data")}
	server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Settings: settings})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	key := createKey(t, settings, "publish", "data:read")
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "key"), key+"\n")
	scripts, err := filepath.Abs("../../examples/sync")
	must.NoError(t, err)
	state := filepath.Join(folder, "version")
	environment := []string{
		"SOURCE_URL=" + server.URL, "TARGET_URL=" + server.URL, "DATASET=shop/prices", "COPY=shop/copy",
		"STATE_FILE=" + state, "KEY_FILE=" + filepath.Join(folder, "key"), "SOURCE_KEY_FILE=" +
			filepath.Join(folder, "key"), "TMPDIR=" + t.TempDir(),
	}
	const keyed = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}}]}`
	const keyedByTwo = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": ["id", "a \"]:kind"]}}]}`
	const unkeyed = `{"resources": [{"path": "prices.csv"}]}`
	const protected = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": "id"}, "herbarium": {"access": "key"}}]}`
	const protectedByTwo = `{"resources": [{"path": "prices.csv", "schema": {"primaryKey": ["id", "kind"]}, "herbarium": {"access": "key"}}]}`
	const dump = `import csv, sqlite3, sys
rows = sqlite3.connect("copy.db").execute("SELECT * FROM \"the \"\"copy\"\"\"")
w = csv.writer(sys.stdout)
w.writerow(c[0] for c in rows.description)
w.writerows(rows)`
	for i, step := range []struct{ file, descriptor, state string }{
		{"id,name\n1,Rose\n2,Oak\n", unkeyed, ""},
		{"id,name\n1,Rose\n2,Fern\n", unkeyed, ""},
		{"id,name,price\n1,Rose,3.00\n2,\"Oak, \"\"x\"\"\",1\n3,\"a\nb\",\n", keyed, ""},
		{"id,name,price\n1,Rose,3.00\n2,\"Oak, \"\"x\"\"\",1\n3,\"a\nb\",\n", keyed, ""},
		{"id,name,price,kind\n1.0,Rose,3.20,\n3,\"a\nb\",,' x\n4,Fern,2,\n", keyed, ""},
		{"id,kind\n4,a\n5,b\n", keyed, ""},
		{"id,kind\n4,c\n6,b\n", keyed, "20010101T133000Z-abcdefghij"}, // not kept
		{"id,kind\n4,c\n4,c\n4,c\n6,b\n", unkeyed, ""},
		{"id,kind\n4,c\n7,\n7,\n", unkeyed, ""},
		{"id,\"a \"\"]:kind\"\n4,a\n4,b\n", keyedByTwo, ""},
		{"id,\"a \"\"]:kind\"\n4,a\n4,c\n5,a\n", keyedByTwo, ""},
		{"id,rowid,OID,Cost\n1,x,y,1\n2,x,y,2\n2,x,y,2\n", unkeyed, ""},
		{"id,rowid,OID,Cost\n1,x,y,1\n2,x,y,2\n", unkeyed, ""},
		{"id,rowid,OID,cost\n1,x,y,1\n2,x,y,3\n", keyed, ""},
		{"id,rowid,OID,_rowid_\n1,x,y,z\n2,x,y,z\n", keyed, ""},
		{"id,rowid,OID,_rowid_\n1,x,y,z\n", keyed, ""},
		{"id,rowid,OID,_rowid_\n1,x,y,z\n", protected, ""},
		{"id,kind\n1,a\n1,b\n", protectedByTwo, ""},
		{"id,kind\n1,c\n1,b\n2,b\n", protectedByTwo, ""},
	} {
		publishForm(t, server.URL+"/api/v1/shop/prices", key, step.file, step.descriptor)
		if step.state != "" {
			writeFile(t, state, step.state)
			run(t, folder, "python3", "-c",
				`import sqlite3; db = sqlite3.connect("copy.db"); db.execute("UPDATE herbarium_copies SET version = '`+
					step.state+`'"); db.commit()`)
		}
		want := sortedRecords(t, readWithKey(t, server.URL+"/api/v1/shop/prices/data.csv", key))
		run(t, folder, "env", "HERBARIUM_KEY="+key, "python3", filepath.Join(scripts, "copy_sqlite.py"),
			server.URL+"/api/v1/shop/prices", "copy.db", `the "copy"`)
		if d := cmp.Diff(want, sortedRecords(t, run(t, folder, "python3", "-c", dump))); d != "" {
			t.Errorf("step %d: the table differs:\n%s", i, d)
		}
		code, out := runShell(t, folder, environment, filepath.Join(scripts, "copy.sh"))
		if code != 0 || out != "" {
			t.Errorf("step %d: exit code %d\n%s", i, code, out)
		}
		checkCopy(t, server.URL+"/api/v1/shop/copy", key, want, strings.Contains(step.descriptor, "access"))
		if t.Failed() {
			t.Fatalf("step %d failed", i)
		}
	}
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodPatch,
		server.URL+"/api/v1/shop/copy/source?_mode=append",
		"id,kind\n9,z\n", "X-API-Key", key) // which nobody should do
	if err != nil || resp.Status != http.StatusOK {
		t.Fatalf("%d %v\n%s", resp.Status, err, resp.Body)
	}
	publishForm(t, server.URL+"/api/v1/shop/prices", key, "id,kind\n1,d\n1,b\n2,b\n", protectedByTwo)
	code, out := runShell(t, folder, environment, filepath.Join(scripts, "copy.sh"))
	if code != 1 || !strings.Contains(out, "/shop/copy has 4 records and not the 3 of") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	code, out = runShell(t, folder, environment, filepath.Join(scripts, "copy.sh"))
	if code != 0 || out != "" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	want := sortedRecords(t, readWithKey(t, server.URL+"/api/v1/shop/prices/data.csv", key))
	checkCopy(t, server.URL+"/api/v1/shop/copy", key, want, true)
	must.NoError(t, os.Remove(state)) // the first copy of a protected dataset
	code, out = runShell(t, folder, append(environment, "COPY=shop/other"), filepath.Join(scripts, "copy.sh"))
	if code != 0 || out != "" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	checkCopy(t, server.URL+"/api/v1/shop/other", key, want, true)
}

// checkCopy compares a copy of a dataset with its records, and with whether it requires a key.
func checkCopy(t *testing.T, url, key string, records []string, isProtected bool) {
	t.Helper()
	if d := cmp.Diff(records, sortedRecords(t, readWithKey(t, url+"/data.csv", key))); d != "" {
		t.Errorf("the copy differs:\n%s", d)
	}
	resp, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet, url+"/data.csv", "")
	must.NoError(t, err)
	if (resp.Status == http.StatusUnauthorized) != isProtected {
		t.Errorf("without a key, the copy is %d; want 401: %v", resp.Status, isProtected)
	}
}

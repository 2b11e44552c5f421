//go:build linux

package systemtest

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to write a database

	"herbarium/internal/must"
)

// symlink creates a symbolic link.
func symlink(t *testing.T, target string, path ...string) {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(path...)), 0o700))
	must.NoError(t, os.Symlink(target, filepath.Join(path...)))
}

// TestSymlinks serves a folder with links to files outside of it.
func TestSymlinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	served := filepath.Join(dir, "served")
	secret := write(t, "user,hash\nroot,s3cr3t-hash\n", dir, "outside", "shadow.csv")
	write(t, "a\n1\n", served, "garden", "open.csv")
	symlink(t, secret, served, "garden", "file.csv")
	symlink(t, filepath.Dir(secret), served, "folder")
	symlink(t, secret, served, "package", "data.csv")
	write(t, `{"name":"package","resources":[{"name":"data","path":"data.csv"}]}`, served, "package",
		"datapackage.json")
	for _, watch := range []bool{false, true} {
		t.Run(fmt.Sprintf("watch=%v", watch), func(t *testing.T) {
			t.Parallel()
			args := []string{served}
			if watch {
				args = []string{"--watch", served}
			}
			n := start(t, config{args: args})
			n.expect(http.StatusOK, "/api/v1/garden/open/data")
			catalogue := n.expect(http.StatusOK, "/api/v1").Body
			for _, name := range []string{"garden/file", "folder/shadow", "package/data", "outside"} {
				if strings.Contains(catalogue, name) {
					t.Errorf("%s was published through a link: %s", name, catalogue)
				}
			}
			for _, path := range []string{"/api/v1/garden/file/data", "/api/v1/folder/shadow/data",
				"/api/v1/package/data/data", "/"} {
				r, err := n.request(http.MethodGet, path, "")
				must.NoError(t, err)
				if strings.Contains(r.Body, "s3cr3t-hash") {
					t.Errorf("%s shows a file outside the served folder: %s", path, r.Body)
				}
			}
		})
	}
}

// TestDataFolderAsSource tries to publish files of the data folder.
func TestDataFolderAsSource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	run(t, data, "publish", write(t, "a\n1\n", dir, "garden", "open.csv"))
	database, err := filepath.Glob(filepath.Join(data, "*.db"))
	must.NoError(t, err)
	for _, source := range append(database, data, dir) {
		out, code := command(t, data, "publish", source)
		if code == 0 && source != dir {
			t.Errorf("publish %s: exit code 0; want an error\n%s", source, out)
		}
	}
	n := start(t, config{data: data})
	catalogue := n.expect(http.StatusOK, "/api/v1").Body
	for _, table := range []string{"/keys", "/versions", "/datasets\""} {
		if strings.Contains(catalogue, table) {
			t.Errorf("a table of the server's own database was published: %s", catalogue)
		}
	}
}

// TestProtectedDatasetStaysProtected publishes a protected dataset again without its descriptor.
func TestProtectedDatasetStaysProtected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	file := write(t, "id,name\n1,alice\n", dir, "vault", "people.csv")
	descriptor := write(t, protected, dir, "vault", "datapackage.json")
	run(t, data, "publish", descriptor)
	if out, code := command(t, data, "publish", file, "--as", "vault/people", "--force"); code != 0 {
		t.Errorf("publish without the descriptor, which keeps the settings: exit code %d; want 0\n%s", code, out)
	}
	if out, code := command(t, data, "publish", file, "--as", "vault/people", "--access", "open",
		"--allow-breaking"); code != 3 {
		t.Errorf("publish as open: exit code %d; want 3\n%s", code, out)
	}
	n := start(t, config{data: data, args: []string{file}})
	n.expect(http.StatusUnauthorized, "/api/v1/vault/people/data")
	n.expect(http.StatusOK, "/api/v1/vault/people/data", "X-API-Key", token)
}

// TestRemovedDescriptor removes the descriptor that protects a dataset from a watched folder.
func TestRemovedDescriptor(t *testing.T) {
	t.Parallel()
	dir := writeOpenAndProtected(t)
	n := start(t, config{args: []string{"--watch", dir}})
	n.expect(http.StatusUnauthorized, "/api/v1/vault/people/data")
	must.NoError(t, os.Remove(filepath.Join(dir, "vault", "datapackage.json")))
	write(t, "id,name\n1,alice\n2,bob\n", dir, "vault", "people.csv")
	// A change that is published later than that of the protected file shows that the server has
	// seen both.
	n.publishOpen(dir)
	n.expect(http.StatusUnauthorized, "/api/v1/vault/people/data")
	start(t, config{data: n.data, args: []string{dir}}).expect(http.StatusUnauthorized, "/api/v1/vault/people/data")
}

// TestProtectedValuesStayPrivate checks that public pages show no value of a protected dataset
// whose publish has failed.
func TestProtectedValuesStayPrivate(t *testing.T) {
	t.Parallel()
	const duplicate = `{"name":"vault","herbarium":{"access":"key"},"resources":[{"name":"people","path":"people.csv",
		"schema":{"primaryKey":"mail","fields":[{"name":"mail"},{"name":"note"}]}}]}`
	const expectation = `{"name":"vault","herbarium":{"access":"key"},"resources":[{"name":"people","path":"people.csv",
		"herbarium":{"expectations":[{"query":"mail=alice@example.org","total":7}]}}]}`
	for name, descriptor := range map[string]string{"duplicate key": duplicate, "expectation": expectation} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, "mail,note\nalice@example.org,x\nbob@example.org,y\nalice@example.org,z\n", dir, "vault",
				"people.csv")
			write(t, descriptor, dir, "vault", "datapackage.json")
			n := start(t, config{args: []string{"--watch", dir}})
			for _, path := range []string{"/", "/api/v1", "/readyz", "/datasets/vault/people", "/api/v1/vault/people",
				"/openapi.json", "/docs"} {
				r, err := n.request(http.MethodGet, path, "", "Accept", "text/html")
				must.NoError(t, err)
				if strings.Contains(r.Body, "alice") {
					t.Errorf("%s shows a value of a protected dataset", path)
				}
			}
		})
	}
}

// TestVirtualTables serves a database that has only virtual tables, whose module does not exist.
func TestVirtualTables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, "a\n1\n", dir, "garden", "open.csv")
	path := filepath.Join(dir, "garden", "virtual.db")
	db, err := sql.Open("sqlite", path)
	must.NoError(t, err)
	for _, statement := range []string{
		`PRAGMA writable_schema = ON`,
		`INSERT INTO sqlite_schema VALUES ('table', 'words', 'words', 0, 'CREATE VIRTUAL TABLE words USING fts5(x)')`,
		`PRAGMA writable_schema = OFF`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	must.NoError(t, db.Close())
	if out, code := command(t, filepath.Join(t.TempDir(), "data"), "publish", path); code != 1 ||
		strings.Contains(out, "goroutine ") {
		t.Errorf("publish: exit code %d; want 1 and an error without a stack trace\n%s", code, out)
	}
	n := start(t, config{args: []string{"--watch", dir}})
	n.expect(http.StatusOK, "/api/v1/garden/open/data")
	n.publishOpen(dir)
}

// workbook returns an XLSX file: the content of the workbook part's root, and of its only sheet.
func workbook(t *testing.T, properties, sheet string) string {
	t.Helper()
	const (
		spreadsheet       = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
		documentRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		packageRelations  = "http://schemas.openxmlformats.org/package/2006/relationships"
	)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, part := range [][2]string{
		{"_rels/.rels", `<Relationships xmlns="` + packageRelations + `"><Relationship Id="rId1" Type="` +
			documentRelations + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + spreadsheet + `" xmlns:r="` + documentRelations + `"` +
			` xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main">` + properties +
			`<sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packageRelations +
			`"><Relationship Id="rId1" Type="` + documentRelations + `/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId9" Type="` + documentRelations + `/styles" Target="styles.xml"/></Relationships>`},
		{"xl/styles.xml", `<styleSheet xmlns="` + spreadsheet +
			`"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + spreadsheet + `"><sheetData>` + sheet +
			`</sheetData></worksheet>`},
	} {
		p, err := w.Create(part[0])
		must.NoError(t, err)
		if _, err := io.WriteString(p, part[1]); err != nil {
			t.Fatal(err)
		}
	}
	must.NoError(t, w.Close())
	return b.String()
}

// TestWorkbooks publishes workbooks that are easily read wrongly.
func TestWorkbooks(t *testing.T) {
	t.Parallel()
	text := func(ref, s string) string { return `<c r="` + ref + `" t="inlineStr"><is><t>` + s + `</t></is></c>` }
	header := `<row r="1">` + text("A1", "name") + text("B1", "since") + `</row>`
	for _, tt := range []struct{ name, properties, rows, want string }{
		{
			"a cell right of the header", "", `<row r="2">` + text("A2", "rose") + text("B2", "x") +
				text("C2", "beyond") + `</row>`, "beyond",
		},
		{
			"1904 dates with an extension element",
			`<workbookPr date1904="1"/><extLst><ext uri="x"><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst>`,
			`<row r="2">` + text("A2", "rose") + `<c r="B2" s="1"><v>0</v></c></row>`, "1904-01-01",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data := filepath.Join(dir, "data")
			file := write(t, workbook(t, tt.properties, header+tt.rows), dir, "garden", "book.xlsx")
			if out, code := command(t, data, "publish", file); code != 0 {
				if !strings.Contains(out, "C2") { // a rejected file must name the cell
					t.Fatalf("exit code %d\n%s", code, out)
				}
				return
			}
			n := start(t, config{data: data})
			if body := n.expect(http.StatusOK, "/api/v1/garden/book/data").Body; !strings.Contains(body, tt.want) {
				t.Errorf("%s; want %q in it", body, tt.want)
			}
		})
	}
}

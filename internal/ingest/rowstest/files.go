package rowstest

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"herbarium/docs/schemas"
)

// WriteFile writes a file and the folders above it, and returns its path.
func WriteFile(t testing.TB, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Folder writes files, given as name or name=content, and returns their folder. The default content
// is a table.
func Folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	for _, f := range files {
		name, content, ok := strings.Cut(f, "=")
		if !ok {
			content = "a\n1\n"
		}
		WriteFile(t, dir, name, content)
	}
	return dir
}

// Zip returns a zip archive of files, given as name=content.
func Zip(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		name, content, _ := strings.Cut(f, "=")
		entry, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// DescriptorSchema returns the JSON Schema of Herbarium's members of descriptors.
func DescriptorSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schemas.DataPackage))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("datapackage.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("datapackage.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

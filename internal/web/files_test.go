package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/web"
)

// pictures returns an open dataset whose rows name files, and one of the same folder that requires
// a key.
func pictures() (open, locked herb.Dataset, rows, lockedRows []herb.Record) {
	image := field("photo", herb.TypeText)
	image.Filterable = false // pages show it regardless
	open = herb.Dataset{Ref: herb.Ref{Namespace: "vault", Name: "pub"},
		Fields: []herb.Field{field("title", herb.TypeText), image}}
	for _, path := range []string{
		"images/rose.svg", "images/a b%.PNG", "catalog.csv", ".git/x.svg", "images/.x.svg", "../outside.svg",
		"link.svg", "folder.svg", "large.png", "tulip.svg",
	} {
		rows = append(rows, herb.Record{"images/title.svg", path})
	}
	locked = herb.Dataset{Ref: herb.Ref{Namespace: "locked", Name: "staff"}, Access: herb.AccessKey,
		Fields: open.Fields}
	return open, locked, rows, []herb.Record{{"Alice", "images/alice.svg"}}
}

// TestFiles requests files of a folder that contains images, datasets, hidden files and links.
func TestFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	folder := filepath.Join(top, "garden")
	for path, content := range map[string]string{
		"garden/images/rose.svg": "<svg/>", "garden/images/a b%.PNG": "png", "garden/catalog.csv": "id\n1\n",
		"garden/.git/x.svg":    "hidden",
		"garden/images/.x.svg": "hidden", "garden/images/title.svg": "title", "garden/images/alice.svg": "alice",
		"garden/images/unnamed.svg": "unnamed",
		"garden/images/old.svg":     "old", "outside.svg": "outside", "garden/large.png": strings.Repeat("x", 4<<20+1),
	} {
		name := filepath.Join(top, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.svg", filepath.Join(folder, "link.svg")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.svg"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		open, locked, rows, lockedRows := pictures()
		l.Put(open, rows)
		replace(l, locked, lockedRows)
		keep(l, open, "v0", []herb.Record{{"Old", "images/old.svg"}})
		o.Folder = func(ref herb.Ref) string {
			if ref.Name == "plain" {
				return ""
			}
			return folder
		}
	})
	for _, tt := range []struct {
		name, path, key string
		status          int
		body            string
	}{
		{"image", "vault/pub/files/images/rose.svg", "", http.StatusOK, "<svg/>"},
		{"escaped name, extension in capitals", "vault/pub/files/images/a%20b%25.PNG", "", http.StatusOK, "png"},
		{"not an image", "vault/pub/files/catalog.csv", "", http.StatusNotFound, "no such image"},
		{"hidden folder", "vault/pub/files/.git/x.svg", "", http.StatusNotFound, "no such image"},
		{"hidden file", "vault/pub/files/images/.x.svg", "", http.StatusNotFound, "no such image"},
		{"parent", "vault/pub/files/%2e%2e%2foutside.svg", "", http.StatusNotFound, "no such"},
		{"link out of the folder", "vault/pub/files/link.svg", "", http.StatusNotFound, "no such image"},
		{"folder", "vault/pub/files/folder.svg", "", http.StatusNotFound, "no such image"},
		{"too large", "vault/pub/files/large.png", "", http.StatusNotFound, "no such image"},
		{"missing", "vault/pub/files/tulip.svg", "", http.StatusNotFound, "no such image"},
		{"protected dataset without a key", "locked/staff/files/images/alice.svg", "", http.StatusUnauthorized, ""},
		{"protected dataset with a key", "locked/staff/files/images/alice.svg", staffKey, http.StatusOK, "alice"},
		{"image of a protected dataset", "vault/pub/files/images/alice.svg", "", http.StatusNotFound, "no such image"},
		{"image of a protected dataset, with its key", "vault/pub/files/images/alice.svg", staffKey,
			http.StatusNotFound, "no such image"},
		{"image of an open dataset through a protected one", "locked/staff/files/images/rose.svg", staffKey,
			http.StatusNotFound, "no such image"},
		{"image that no row names", "vault/pub/files/images/unnamed.svg", "", http.StatusNotFound, "no such image"},
		{"image in a column of texts", "vault/pub/files/images/title.svg", "", http.StatusNotFound, "no such image"},
		{"another spelling", "vault/pub/files/images/ROSE.svg", "", http.StatusNotFound, "no such image"},
		{"image of another version", "vault/pub/files/images/old.svg", "", http.StatusNotFound, "no such image"},
		{"image of an older version", "vault/pub/files/images/old.svg?_version=v0", "", http.StatusOK, "old"},
		{"image of the live version in an older one", "vault/pub/files/images/rose.svg?_version=v0", "",
			http.StatusNotFound, "no such image"},
		{"dataset without images", "wide/many/files/images/rose.svg", "", http.StatusNotFound, "no such image"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.get(t, "/datasets/"+tt.path, "Cookie", "herbarium_key="+tt.key)
			if a.status != tt.status || !strings.Contains(a.body, tt.body) {
				t.Errorf("got %d %q, want %d %q", a.status, a.body, tt.status, tt.body)
			}
			if policy := a.header.Get("Content-Security-Policy"); a.status == http.StatusOK &&
				!strings.Contains(policy, "sandbox") {
				t.Errorf("the content security policy is %q, want a sandbox", policy)
			}
		})
	}
	// Files are sent as a whole, and errors are those of every other path.
	const image = "/datasets/vault/pub/files/images/rose.svg"
	whole := s.get(t, image)
	for _, header := range [][2]string{{"Range", "bytes=1-2"}, {"Range", "bytes=100-"},
		{"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"}} {
		if a := s.get(t, image, header[0], header[1]); a.status != http.StatusOK || a.body != whole.body ||
			a.header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %s gives %d %q as %s", header[0], header[1], a.status, a.body, a.header.Get("Content-Type"))
		}
	}
	if a := s.get(t, image, "If-None-Match", whole.header.Get("Etag")); a.status != http.StatusNotModified ||
		a.body != "" {
		t.Errorf("a known file gives %d %q", a.status, a.body)
	}
	if err := os.WriteFile(filepath.Join(folder, "images", "rose.svg"), []byte("<svg></svg>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a := s.get(t, image, "If-None-Match", whole.header.Get("Etag")); a.status != http.StatusOK ||
		a.body != "<svg></svg>" {
		t.Errorf("a changed file gives %d %q", a.status, a.body)
	}
	// The page of an older version links to the images of that version.
	for path, want := range map[string]string{
		"/datasets/vault/pub":             "/datasets/vault/pub/files/images/rose.svg\"",
		"/datasets/vault/pub?_version=v0": "/datasets/vault/pub/files/images/old.svg?_version=v0\"",
	} {
		if a := s.get(t, path); !strings.Contains(a.body, want) {
			t.Errorf("%s has no image %s", path, want)
		}
	}
}

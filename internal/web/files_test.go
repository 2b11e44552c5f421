package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/web"
)

// TestFiles requests files of a folder that contains images, a dataset, hidden files and links.
func TestFiles(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	folder := filepath.Join(top, "garden")
	for path, content := range map[string]string{
		"garden/images/rose.svg": "<svg/>", "garden/images/a b%.PNG": "png", "garden/catalog.csv": "id\n1\n", "garden/.git/x.svg": "hidden",
		"garden/images/.x.svg": "hidden", "outside.svg": "outside", "garden/large.png": strings.Repeat("x", 4<<20+1),
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
	s := newSite(t, func(o *web.Options, _ *fakeLibrary) {
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
		{"image", "garden/catalog/files/images/rose.svg", "", http.StatusOK, "<svg/>"},
		{"escaped name, extension in capitals", "garden/catalog/files/images/a%20b%25.PNG", "", http.StatusOK, "png"},
		{"not an image", "garden/catalog/files/catalog.csv", "", http.StatusNotFound, "no such image"},
		{"hidden folder", "garden/catalog/files/.git/x.svg", "", http.StatusNotFound, "no such image"},
		{"hidden file", "garden/catalog/files/images/.x.svg", "", http.StatusNotFound, "no such image"},
		{"parent", "garden/catalog/files/%2e%2e%2foutside.svg", "", http.StatusNotFound, "no such"},
		{"link out of the folder", "garden/catalog/files/link.svg", "", http.StatusNotFound, "no such image"},
		{"folder", "garden/catalog/files/folder.svg", "", http.StatusNotFound, "no such image"},
		{"too large", "garden/catalog/files/large.png", "", http.StatusNotFound, "no such image"},
		{"missing", "garden/catalog/files/tulip.svg", "", http.StatusNotFound, "no such image"},
		{"protected dataset without a key", "locked/staff/files/images/rose.svg", "", http.StatusUnauthorized, ""},
		{"protected dataset with a key", "locked/staff/files/images/rose.svg", staffKey, http.StatusOK, "<svg/>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := s.get(t, "/datasets/"+tt.path, "Cookie", "herbarium_key="+tt.key)
			if a.status != tt.status || !strings.Contains(a.body, tt.body) {
				t.Errorf("got %d %q, want %d %q", a.status, a.body, tt.status, tt.body)
			}
			if policy := a.header.Get("Content-Security-Policy"); a.status == http.StatusOK && !strings.Contains(policy, "sandbox") {
				t.Errorf("the content security policy is %q, want a sandbox", policy)
			}
		})
	}
	// Files are sent as a whole, and errors are those of every other path.
	const image = "/datasets/garden/catalog/files/images/rose.svg"
	whole := s.get(t, image)
	for _, header := range [][2]string{{"Range", "bytes=1-2"}, {"Range", "bytes=100-"}, {"If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT"}} {
		if a := s.get(t, image, header[0], header[1]); a.status != http.StatusOK || a.body != whole.body || a.header.Get("Content-Type") != "image/svg+xml" {
			t.Errorf("%s: %s gives %d %q as %s", header[0], header[1], a.status, a.body, a.header.Get("Content-Type"))
		}
	}
	if a := s.get(t, image, "If-None-Match", whole.header.Get("Etag")); a.status != http.StatusNotModified || a.body != "" {
		t.Errorf("a known file gives %d %q", a.status, a.body)
	}
	if err := os.WriteFile(filepath.Join(folder, "images", "rose.svg"), []byte("<svg></svg>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a := s.get(t, image, "If-None-Match", whole.header.Get("Etag")); a.status != http.StatusOK || a.body != "<svg></svg>" {
		t.Errorf("a changed file gives %d %q", a.status, a.body)
	}
}

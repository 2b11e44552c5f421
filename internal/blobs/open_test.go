//go:build unix

package blobs_test

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
)

func TestOpen_invalid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const secret = "hunter2"
	for _, c := range []struct{ name, address, want string }{
		{"empty", "", "has no scheme"},
		{"a path", "/var/lib/" + secret, "has no scheme"},
		{"unknown scheme", "ftp://user:" + secret + "@host/x",
			`unknown object store "ftp://"; write s3://bucket/prefix or file:///folder`},
		{"unreadable", "s3://bucket:" + secret + "/%zz", "invalid address"},
		{"a port that is none", "s3://key:" + secret + "%@bucket", "invalid address"},
		{"credentials", "s3://key:" + secret + "@bucket", "AWS_SECRET_ACCESS_KEY"},
		{"no bucket", "s3:///prefix", "has no bucket"},
		{"bucket name", "s3://x", "invalid bucket name"},
		{"Google", "gs://" + secret + "/prefix", "s3://bucket/prefix?endpoint=https://storage.googleapis.com"},
		{"Azure", "azblob://" + secret + "?storage_account=x", "gateway"},
		{"fragment", "s3://bucket#" + secret, "fragment"},
		{"climbing", "s3://bucket/a/../b", ". or .."},
		{"unknown parameter", "s3://bucket?secret=" + secret,
			`unknown parameter "secret" of the object store s3://bucket; valid parameters: accelerate, anonymous`},
		{"unknown parameter of a folder", "file:///tmp?metadata=x", `valid parameters: create_dir`},
		{"unreadable parameters", "s3://bucket?region=%zz", "invalid parameters of the object store s3://bucket"},
		{"repeated parameter", "s3://bucket?region=a&region=b",
			`"region" of the object store s3://bucket is given twice`},
		{"wrong value", "s3://bucket?region=x&use_path_style=perhaps", "use_path_style"},
		{"endpoint without scheme", "s3://bucket?endpoint=localhost:9000", "https://host:port"},
		{"endpoint with a path", "s3://bucket?endpoint=https://host/" + secret, "https://host:port"},
		{"encryption", "s3://bucket?region=x&ssetype=rot13", "ssetype=AES256"},
		{"endpoint with credentials", "s3://bucket?endpoint=https://key:" + secret + "@host", "without credentials"},
		{"folder without root", "file://folder", "file:///folder"},
		{"folder that is absent", "file://" + folder + "/absent", "add ?create_dir=true"},
		{"folder without parent", "file://" + folder + "/a/b?create_dir=true", "cannot create"},
		{"folder, wrong value", "file://" + folder + "?create_dir=perhaps", "true or false"},
		{"folder that is a file", "file://" + plain, "not a folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := blobs.Open(c.address, blobs.Options{})
			wantCode(t, err, herb.CodeInvalid)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %q, want %q in it", err, c.want)
			}
			if c.name != "a path" && strings.Contains(err.Error(), secret) {
				t.Errorf("the error contains the secret: %q", err)
			}
		})
	}
}

// TestFolder checks the files of a store in a folder: their modes, and which of them are listed and
// aborted.
func TestFolder(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "store")
	b := open(t, "file://"+root+"?create_dir=true", blobs.Options{})
	put(t, b, "a.segment", []byte("a"))
	put(t, b, "b.segment", []byte("b"))
	write := func(name string, age time.Duration) {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	write("c.segment.18ab.tmp", 2*time.Hour)
	write("d.segment.18ac.tmp", 0)
	tree := func() (out []string) {
		t.Helper()
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			out = append(out, info.Mode().String()+" "+strings.TrimPrefix(path, root))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	all := []string{
		"drwx------ ", "-rw------- /a.segment", "-rw------- /b.segment", "-rw------- /c.segment.18ab.tmp",
		"-rw------- /d.segment.18ac.tmp",
	}
	if diff := cmp.Diff(all, tree()); diff != "" {
		t.Errorf("in the folder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a.segment 1", "b.segment 1"}, names(t, b)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	if err := b.Abort(t.Context(), time.Hour); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(all[:3:3], all[4:]...), tree()); diff != "" {
		t.Errorf("in the folder after Abort (-want +got):\n%s", diff)
	}
}

// TestFolder_gone checks that a removed folder is not mistaken for an empty one.
func TestFolder_gone(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "store")
	b := open(t, "file://"+root+"?create_dir=true", blobs.Options{})
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	wantCode(t, b.Ping(t.Context()), herb.CodeUnavailable)
	wantCode(t, b.Get(t.Context(), "a.segment", io.Discard), herb.CodeUnavailable)
	wantCode(t, b.Delete(t.Context(), "a.segment"), herb.CodeUnavailable)
	wantCode(t, b.Abort(t.Context(), 0), herb.CodeUnavailable)
	for _, err := range b.List(t.Context(), "") {
		wantCode(t, err, herb.CodeUnavailable)
	}
}

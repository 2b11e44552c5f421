package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func TestUnpacked_RefusesBombs(t *testing.T) {
	t.Parallel()
	content := strings.NewReader(strings.Repeat("x", 100))
	u := &unpacked{kind: "gzip", src: content, packed: &counter{n: MaxRatioFrom / MaxRatio}, read: MaxRatioFrom - 50, close: func() {}}
	if n, err := u.Read(make([]byte, 50)); n != 50 || err != nil {
		t.Errorf("at the limit: %d bytes, error %v", n, err)
	}
	u.read += MaxRatio
	want := "the gzip data unpacks to more than 1000 times its size; that is refused beyond 1073741824 bytes"
	if _, err := u.Read(make([]byte, 50)); err == nil || err.Error() != want {
		t.Errorf("over the limit: error %v", err)
	}
	u.packed.n *= 2
	if n, err := u.Read(make([]byte, 50)); err != io.EOF && err != nil {
		t.Errorf("data that are dense: %d bytes, error %v", n, err)
	}
}

func TestWhole(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	packed := "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x4b\x04\x00\x43\xbe\xb7\xe8\x01\x00\x00\x00" // the letter a
	for name, content := range map[string]string{"plain": "a", "packed": packed} {
		path := dir + "/" + name + ".csv"
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := openInput(t.Context(), Source{Path: path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.next(); err != nil {
			t.Fatal(err)
		}
		body, _, err := in.content()
		if err != nil {
			t.Fatal(err)
		}
		f, err := in.whole(body)
		if err != nil {
			t.Fatal(err)
		}
		var got [1]byte
		for range 2 {
			if _, err := f.ReadAt(got[:], 0); err != nil || got[0] != 'a' {
				t.Errorf("%s: read %q, error %v", name, got, err)
			}
		}
		if more, err := in.next(); more || err != nil {
			t.Errorf("%s: more %v, error %v", name, more, err)
		}
		hash, err := Hash(t.Context(), Source{Path: path}, Options{})
		if got := hashOf(t, path, in); err != nil || got != hash {
			t.Errorf("%s: hash %s, want %s, error %v", name, got, hash, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: %d files are left, error %v", name, len(entries), err)
		}
	}
}

// hashOf is the hash of a source whose files were read.
func hashOf(t *testing.T, path string, in *input) string {
	t.Helper()
	src, err := Source{Path: path}.settled()
	if err != nil {
		t.Fatal(err)
	}
	hash, err := src.hash(in.hash())
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestSpoolFile_LeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	if _, err := spoolFile(context.Background(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc")))); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got error %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%d files are left, error %v", len(entries), err)
	}
}

// FuzzEncoding holds the strict decoders against those that substitute: what is accepted is what they make of it, without
// a substitute that was not there.
func FuzzEncoding(f *testing.F) {
	f.Add([]byte("植\x90A\x95\xA8\x84\x31\xA4\x37\r\n"), byte(0))
	f.Add([]byte("\x1B$B?\"\x1B(Bx"), byte(3))
	f.Fuzz(func(t *testing.T, in []byte, which byte) {
		names := []string{"shift_jis", "gb18030", "windows-1252", "iso-2022-jp"}
		i := int(which) % len(names)
		dec, err := newDecoder(names[i])
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(newTextReader(iotest.HalfReader(bytes.NewReader(in)), dec, strictly(names[i])))
		loose := []interface{ Bytes([]byte) ([]byte, error) }{
			japanese.ShiftJIS.NewDecoder(), simplifiedchinese.GB18030.NewDecoder(), charmap.Windows1252.NewDecoder(), japanese.ISO2022JP.NewDecoder(),
		}[i]
		want, looseErr := loose.Bytes(in)
		if looseErr != nil {
			t.Skip()
		}
		if err != nil {
			if !bytes.Contains(want, []byte(substitute)) {
				t.Fatalf("%s: %q is refused (%v) although it is %q", names[i], in, err, want)
			}
			return
		}
		if !bytes.Equal(got, want) || bytes.Count(want, []byte(substitute)) > bytes.Count(in, []byte(substituteGB18030)) {
			t.Fatalf("%s: %q is read as %q, want %q", names[i], in, got, want)
		}
	})
}

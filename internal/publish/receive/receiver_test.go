package receive

import (
	"errors"
	"io"
	"strings"
	"testing"

	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/must"
)

func TestReceive(t *testing.T) {
	t.Parallel()
	free, ok := uint64(spareSpace+100), true
	r := New(Options{Dir: t.TempDir(), MaxSize: 1000, Free: func(string) (uint64, uint64, bool) { return free, 0, ok }})
	for name, tt := range map[string]struct {
		body io.Reader
		size int64
		code herb.Code
	}{
		"fits":               {strings.NewReader("0123456789"), 10, ""},
		"unknown size":       {strings.NewReader("0123456789"), -1, ""},
		"announced":          {strings.NewReader(""), 1001, herb.CodeTooLarge},
		"too large":          {strings.NewReader(strings.Repeat("x", 1001)), -1, herb.CodeTooLarge},
		"more than the disk": {strings.NewReader(""), 101, herb.CodeNoSpace},
	} {
		f, err := r.Receive(t.Context(), tt.body, "", tt.size)
		if tt.code != "" {
			if herb.CodeOf(err) != tt.code {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		must.NoError(t, err)
		if f.Size != 10 || f.SHA256 != "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882" {
			t.Errorf("%s: %+v", name, f)
		}
		must.NoError(t, f.Close())
		must.NoError(t, f.Close())
	}
	if _, err := r.Receive(t.Context(), io.MultiReader(strings.NewReader("abc"), errorReader{}), "",
		10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that ends early gives %v", err)
	}
	body, sender := io.Pipe() // what a client announces and does not send takes no space from others
	done := make(chan error)
	go func() {
		_, err := r.Receive(t.Context(), body, "", 60)
		done <- err
	}()
	_, err := sender.Write([]byte("x")) // it has begun
	must.NoError(t, err)
	other, err := r.Receive(t.Context(), strings.NewReader("y"), "", 60)
	if err != nil {
		t.Errorf("an upload beside one that was announced and not sent gives %v", err)
	}
	must.NoError(t, other.Close())
	must.NoError(t, sender.Close())
	must.NoError(t, <-done)
}

// TestReceive_FullDisk rejects a file of unknown size when the disk fills while it is received.
func TestReceive_FullDisk(t *testing.T) {
	t.Parallel()
	free := uint64(spareSpace + checkEvery)
	r := New(Options{Dir: t.TempDir(), Free: func(string) (uint64, uint64, bool) {
		defer func() { free -= checkEvery }()
		return free, 0, true
	}})
	body := &countingReader{}
	if _, err := r.Receive(t.Context(), body, "", -1); herb.CodeOf(err) != herb.CodeNoSpace || body.n > 3*checkEvery {
		t.Errorf("%v after %d bytes", err, body.n)
	}
	if slots := admission.DefaultLimits(64, 0)[admission.Publish].Slots; slots*checkEvery >= spareSpace {
		t.Errorf("%d uploads may fill the disk between two checks", slots)
	}
}

// countingReader is a body without an end.
type countingReader struct{ n int }

func (r *countingReader) Read(p []byte) (int, error) {
	r.n += len(p)
	return len(p), nil
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestCleanName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "a.csv": "a.csv", "../../etc/passwd": "passwd", `C:\x\a b.csv`: "a b.csv", "a\x00\n.csv": "a.csv",
		"/": "", "..": "..", "x/": "x",
		strings.Repeat("x", 300) + ".csv": strings.Repeat("x", 251) + ".csv", "Größe.csv": "Größe.csv",
		"\xff.csv": ".csv",
	} {
		if got := cleanName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

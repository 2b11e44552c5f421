package memory_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/memory"
	"herbarium/internal/query"
)

var fields = []herb.Field{
	{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
	{Name: "title", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
}

var records = []herb.Record{{"2", "Rose <hip> & \"more\"\r\n"}, {"10", ""}, {"", "植物園 \u2028 \x00"}}

func sequence(rs []herb.Record, err error) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for _, r := range rs {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "v.records")
	if n, err := memory.Create(path, fields, sequence(records, nil)); err != nil || n != len(records) {
		t.Fatalf("Create: %d, %v", n, err)
	}
	return path
}

func TestCreate_reopened(t *testing.T) {
	t.Parallel()
	v, err := memory.Open(create(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := query.Parse("sort=id&order=desc", fields)
	if err != nil {
		t.Fatal(err)
	}
	page, err := v.List(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rec := range page.Records {
		got = append(got, string(rec))
	}
	want := `{"id":"10","title":""}` + "\n" + `{"id":"2","title":"Rose <hip> & \"more\"\r\n"}` + "\n" +
		`{"id":"","title":"植物園 ` + "\u2028" + ` \u0000"}`
	if joined := strings.Join(got, "\n"); joined != want {
		t.Errorf("got\n%s\nwant\n%s", joined, want)
	}
}

// TestOpen_damaged flips every byte and cuts at every length: nothing but the untouched file opens.
func TestOpen_damaged(t *testing.T) {
	t.Parallel()
	path := create(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged.records")
	try := func(content []byte, what string, at int) {
		t.Helper()
		if err := os.WriteFile(damaged, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Open(damaged); err == nil {
			t.Errorf("the file opens although it was %s at %d", what, at)
		}
	}
	for i := range whole {
		try(whole[:i], "cut", i)
		flipped := append([]byte(nil), whole...)
		flipped[i] ^= 0x01
		try(flipped, "changed", i)
	}
	if err := os.WriteFile(damaged, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := memory.Open(damaged); !errors.Is(err, memory.ErrCorrupt) {
		t.Errorf("half a file gives %v; want ErrCorrupt", err)
	}
}

func TestCreate_leavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	failure := errors.New("the source broke off")
	_, err := memory.Create(filepath.Join(dir, "v.records"), fields, sequence(records, failure))
	if !errors.Is(err, failure) {
		t.Errorf("Create gives %v; want the failure of its source", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestList_cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := query.Parse("", fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := memory.New(fields, records).List(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want context.Canceled", err)
	}
}

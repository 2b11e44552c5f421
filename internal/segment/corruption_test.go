package segment_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/testseed"
)

// Sizes of the frame in bytes, as specified in the format documentation.
const (
	frameHeader  = 16
	frameVersion = 8 // offset
	frameEntry   = 32
	frameFooter  = 40
)

// everyType returns searchable fields of types that are stored in different ways.
func everyType() []herb.Field {
	fields := make([]herb.Field, 0, 4)
	for _, t := range []herb.Type{herb.TypeText, herb.TypeNumber, herb.TypeDate, herb.TypeList} {
		fields = append(fields, herb.Field{Name: string(t), Type: t, Searchable: true, Filterable: true,
			Sortable: true})
	}
	return fields
}

// fewRecords returns a few records that cover special cases of listings: ties, values that compare
// equal but are written differently, empty values, quotes, repeated words.
func fewRecords() []herb.Record {
	return []herb.Record{
		{"rose", "1", "2024-02-29", "a,b"},
		{"a \"rose\" is a rose\\", "1.0", "", "b"},
		{"so\u00ADft", "-7", "2023-01-01", ""},
		{"soft", "", "2024-02-29", "b, c"},
		{"", "10", "2025-01-01", "a"},
		{"Rose", "9.5", "2023-01-01", "\"q\""},
	}
}

// manyRecords returns enough records for long runs and for ranges computed from the leading sets.
func manyRecords(n int) []herb.Record {
	words := []string{"rose", "fern", "moss", "oak", "elm", "lily", "iris", "reed"}
	g := rand.New(rand.NewPCG(7, 7))
	records := make([]herb.Record, n)
	for i := range records {
		records[i] = herb.Record{
			words[g.IntN(3)] + " " + words[g.IntN(8)] + " " + strconv.Itoa(g.IntN(50)),
			strconv.Itoa(g.IntN(n)),
			fmt.Sprintf("2024-%02d-%02d", 1+g.IntN(2), 1+g.IntN(28)),
			words[g.IntN(2)] + "," + words[2+g.IntN(6)],
		}
	}
	return records
}

// rawQueries returns queries with every operator on every field, every order and every kind of
// search.
func rawQueries(fields []herb.Field) []string {
	operands := map[herb.Type]string{herb.TypeNumber: "1", herb.TypeDate: "2024-02-10", herb.TypeList: "b"}
	raws := []string{"", "page=2&per_page=2"}
	for _, search := range []string{
		"rose", "ro*", `"rose fern"`, "is-a-ro*", "-rose", "rose -soft", "rose fern", "absent", "*", "a b",
	} {
		raws = append(raws, "search="+url.QueryEscape(search))
	}
	for i, f := range fields {
		name, operand := url.QueryEscape(f.Name), operands[f.Type]
		if i > 0 {
			raws = append(raws, "per_page=3&page=2&sort=-"+name+","+url.QueryEscape(fields[i-1].Name))
		}
		if operand == "" {
			operand = "rose"
		}
		for _, op := range query.Ops() {
			value := operand
			switch {
			case op == "empty":
				value = "true"
			case f.Filterable && !slices.Contains(query.FieldOps(f), op):
				continue // does not apply
			case op == query.OpPrefix:
				value = operand[:max(1, len(operand)-1)]
			case op == query.OpContains:
				value = operand[len(operand)-1:]
			}
			raws = append(raws, fmt.Sprintf("%s%%5B%s%%5D=%s", name, op, url.QueryEscape(value)))
		}
		raws = append(raws,
			name+"=",
			"sort="+name,
			"sort="+name+"&order=desc",
			"search=ro*&order=desc&sort="+name,
			"search=rose&per_page=2&page=2&sort="+name,
			"search=-soft&per_page=1&page=3&order=desc&sort="+name,
		)
	}
	return raws
}

// requests parses those of the queries that are valid for the fields; with damaged fields, not all
// are.
func requests(fields []herb.Field) []*query.Request {
	var parsed []*query.Request
	for _, raw := range rawQueries(fields) {
		if q, err := query.Parse(raw, fields); err == nil {
			parsed = append(parsed, q)
		}
	}
	return parsed
}

func TestRawQueries_valid(t *testing.T) {
	t.Parallel()
	for _, raw := range rawQueries(everyType()) {
		if _, err := query.Parse(raw, everyType()); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// fileOf builds a segment and returns its bytes.
func fileOf(t testing.TB, fields []herb.Field, records []herb.Record, opts segment.Options) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "good.seg")
	if _, err := segment.Create(t.Context(), path, fields, sequence(records), opts); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// openBytes opens bytes as a segment. The caller must release the reader.
func openBytes(t testing.TB, path string, b []byte) (*segment.Reader, error) {
	t.Helper()
	replaceFile(t, path, b)
	return segment.Open(path)
}

// replaceFile writes a new file at a path. It does not truncate the old one, because some file
// systems, such as ext4, write a file that was truncated to disk when it is closed, which takes
// most of the time of tests with thousands of files.
func replaceFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// isDamage reports whether an error is one of those that a damaged file may cause.
func isDamage(err error) bool {
	return errors.Is(err, segment.ErrUnexpected) || errors.Is(err, segment.ErrCorrupt) ||
		errors.Is(err, segment.ErrTruncated) || errors.Is(err, segment.ErrIndex)
}

// use runs all requests on a reader and expects results or errors that report damage. A hang fails
// the test.
func use(r *segment.Reader, asked []*query.Request, what string) error {
	watchdog := time.AfterFunc(time.Minute, func() { panic(what + ": a listing does not end") })
	defer watchdog.Stop()
	for _, q := range asked {
		page, err := r.List(context.Background(), q)
		switch {
		case err != nil && !isDamage(err):
			return fmt.Errorf("%s: listing %+v: %w", what, q, err)
		case err == nil && (len(page.Records) > q.PerPage || page.Total > r.Len()):
			return fmt.Errorf("%s: listing %+v: %d records on a page of %d, %d of %d in all",
				what, q, len(page.Records), q.PerPage, page.Total, r.Len())
		}
	}
	for _, q := range []*query.Request{asked[0], asked[len(asked)/3]} { // expensive, because it covers all fields
		facets, err := r.Facets(context.Background(), facetsOf(q, r.Fields()))
		switch {
		case err != nil && !isDamage(err):
			return fmt.Errorf("%s: facets of %+v: %w", what, q, err)
		case err == nil && (len(facets.Fields) != len(r.Fields()) || facets.Total > r.Len()):
			return fmt.Errorf("%s: facets of %+v: %d fields, %d of %d in all", what, q, len(facets.Fields),
				facets.Total, r.Len())
		}
		number := slices.IndexFunc(r.Fields(), func(f herb.Field) bool { return f.Type == herb.TypeNumber })
		if number < 0 {
			continue
		}
		bounds := query.Bounds{MinX: -100, MinY: -100, MaxX: 100, MaxY: 100}
		grid, err := r.Grid(context.Background(), &query.GridRequest{Request: q, X: number, Y: number, Columns: 9,
			Rows: 9, Bounds: bounds})
		switch {
		case err != nil && !isDamage(err):
			return fmt.Errorf("%s: grid of %+v: %w", what, q, err)
		case err == nil && (grid.Total > r.Len() || grid.Inside > grid.Total):
			return fmt.Errorf("%s: grid of %+v: %d of %d, %d inside", what, q, grid.Total, r.Len(), grid.Inside)
		}
	}
	return nil
}

// facetsOf returns a request for the facets of all fields with the filters of q.
func facetsOf(q *query.Request, fields []herb.Field) *query.FacetRequest {
	f := &query.FacetRequest{Request: q, Top: 3, Buckets: 5}
	for i := range fields {
		f.Fields = append(f.Fields, i)
	}
	return f
}

// expected returns the error that a change of the byte at an offset must cause; nil if only Verify
// detects it.
func expected(size, at int) error {
	switch {
	case at < frameVersion:
		return segment.ErrCorrupt
	case at < frameVersion+4:
		return segment.ErrIndex
	case at < frameHeader:
		return segment.ErrCorrupt
	case at >= size-8: // end of the file
		return segment.ErrTruncated
	case at >= size-frameFooter:
		return segment.ErrCorrupt
	default:
		return nil
	}
}

// flips are modifications of a byte: its lowest bit, and all bits.
var flips = [2]byte{0x01, 0xff}

// TestFlippedBytes flips each byte of a file, in a soak run in both ways.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	var asked [2][]*query.Request // half of the requests for each of the flips
	for i, q := range requests(everyType()) {
		asked[i%2] = append(asked[i%2], q)
	}
	path := filepath.Join(t.TempDir(), "flipped.seg")
	opened := 0
	for at := range good {
		for i, flip := range flips {
			if at%len(flips) != i && !testseed.Soak() {
				continue
			}
			what := fmt.Sprintf("byte %d of %d ^ %#x", at, len(good), flip)
			bad := slices.Clone(good)
			bad[at] ^= flip
			r, err := openBytes(t, path, bad)
			want := expected(len(good), at)
			if want != nil && !errors.Is(err, want) {
				t.Fatalf("%s: Open: %v; want %v", what, err, want)
			}
			if err != nil {
				if !isDamage(err) {
					t.Fatalf("%s: Open: %v", what, err)
				}
				continue
			}
			opened++
			if err := r.Verify(); !errors.Is(err, segment.ErrCorrupt) {
				t.Errorf("%s: Verify: %v", what, err)
			}
			if testseed.Soak() || at%16 < len(flips) {
				if err := use(r, asked[i], what); err != nil {
					t.Error(err)
				}
			}
			if err := r.Release(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if opened < len(good)/2 {
		t.Errorf("only %d flipped files of %d bytes were opened and listed", opened, len(good))
	}
}

// TestFlippedBytes_largeFile flips some bytes of a file that is large enough for every method of
// locating a page.
func TestFlippedBytes_largeFile(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), manyRecords(5000), segment.Options{})
	records := int(binary.LittleEndian.Uint64(good[len(good)-frameFooter:])) / 2 // at least half of the bytes are JSON
	asked := requests(everyType())
	path := filepath.Join(t.TempDir(), "flipped.seg")
	g := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		at, flip := records+g.IntN(len(good)-records), byte(1)<<g.IntN(8)
		what := fmt.Sprintf("byte %d of %d ^ %#x", at, len(good), flip)
		bad := slices.Clone(good)
		bad[at] ^= flip
		r, err := openBytes(t, path, bad)
		if err != nil {
			if !isDamage(err) {
				t.Fatalf("%s: Open: %v", what, err)
			}
			continue
		}
		if err := r.Verify(); !errors.Is(err, segment.ErrCorrupt) {
			t.Errorf("%s: Verify: %v", what, err)
		}
		if err := use(r, asked, what); err != nil {
			t.Error(err)
		}
		if err := r.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverwrittenSections overwrites each section in turn, as a disk does that loses a block.
func TestOverwrittenSections(t *testing.T) {
	t.Parallel()
	asked := requests(everyType())
	for name, records := range map[string][]herb.Record{"few": fewRecords(), "many": manyRecords(5000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := fileOf(t, everyType(), records, segment.Options{})
			path := filepath.Join(t.TempDir(), "overwritten.seg")
			toc := good[binary.LittleEndian.Uint64(good[len(good)-frameFooter:]) : len(good)-frameFooter]
			for ; len(toc) > 0; toc = toc[frameEntry:] {
				from, size := binary.LittleEndian.Uint64(toc[8:]), binary.LittleEndian.Uint64(toc[16:])
				for _, with := range []byte{0x00, 0x01, 0xff} {
					what := fmt.Sprintf("section %s of field %d, %d bytes of %#x", toc[:4],
						binary.LittleEndian.Uint32(toc[4:]), size, with)
					bad := slices.Clone(good)
					copy(bad[from:], bytes.Repeat([]byte{with}, int(size)))
					r, err := openBytes(t, path, bad)
					if err != nil {
						if !isDamage(err) {
							t.Errorf("%s: Open: %v", what, err)
						}
						continue
					}
					if err := r.Verify(); !errors.Is(err, segment.ErrCorrupt) && !bytes.Equal(bad, good) {
						t.Errorf("%s: Verify: %v", what, err)
					}
					if err := errors.Join(use(r, asked, what), r.Release()); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// repair recomputes all checksums of a file if its frame is still valid, like a program that
// carefully writes nonsense.
func repair(b []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	b = slices.Clone(b)
	if len(b) < frameHeader+frameFooter {
		return b
	}
	footer := b[len(b)-frameFooter:]
	offset := binary.LittleEndian.Uint64(footer)
	end := uint64(len(b) - frameFooter)
	if offset > end || (end-offset)%frameEntry != 0 {
		return b
	}
	toc := b[offset:end]
	for e := toc; len(e) > 0; e = e[frameEntry:] {
		from, size := binary.LittleEndian.Uint64(e[8:]), binary.LittleEndian.Uint64(e[16:])
		if from <= end && size <= end-from {
			binary.LittleEndian.PutUint32(e[24:], crc32.Checksum(b[from:from+size], table))
		}
	}
	binary.LittleEndian.PutUint64(footer[8:], uint64(len(toc)))
	binary.LittleEndian.PutUint64(footer[16:], uint64(len(b)))
	binary.LittleEndian.PutUint32(footer[24:], crc32.Checksum(toc, table))
	binary.LittleEndian.PutUint32(footer[28:], crc32.Checksum(footer[:28], table))
	return b
}

// TestFlippedBytes_validChecksums damages the metadata and the table of contents without
// invalidating the checksums.
func TestFlippedBytes_validChecksums(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	if d := cmp.Diff(good, repair(good)); d != "" {
		t.Fatalf("repairing a good file changes it:\n%s", d)
	}
	path := filepath.Join(t.TempDir(), "flipped.seg")
	toc := binary.LittleEndian.Uint64(good[len(good)-frameFooter:])
	meta := binary.LittleEndian.Uint64(good[len(good)-frameFooter-frameEntry+8:]) // the last section
	opened := 0
	step := 5
	if testseed.Soak() {
		step = 1
	}
	for at := int(meta); at < len(good)-frameFooter; at += step {
		for _, flip := range flips {
			what := fmt.Sprintf("byte %d ^ %#x, description at %d, table of contents at %d", at, flip, meta, toc)
			bad := slices.Clone(good)
			bad[at] ^= flip
			r, err := openBytes(t, path, repair(bad))
			if err != nil {
				if !isDamage(err) {
					t.Fatalf("%s: Open: %v", what, err)
				}
				continue
			}
			opened++
			if err := r.Verify(); err != nil && !errors.Is(err, segment.ErrCorrupt) {
				t.Errorf("%s: Verify: %v", what, err)
			}
			if err := use(r, requests(r.Fields()), what); err != nil {
				t.Error(err)
			}
			if err := r.Release(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if opened == 0 {
		t.Error("no damaged file was opened: the damage is always found before")
	}
}

func TestOpen_truncated(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	path := filepath.Join(t.TempDir(), "cut.seg")
	for size := range good {
		if _, err := openBytes(t, path, good[:size]); !errors.Is(err, segment.ErrTruncated) {
			t.Errorf("cut to %d of %d bytes: %v", size, len(good), err)
		}
	}
	if _, err := openBytes(t, path, append(slices.Clone(good), 0)); !isDamage(err) {
		t.Errorf("with a byte more: %v", err)
	}
	if _, err := openBytes(t, path, append(slices.Clone(good), good...)); !isDamage(err) {
		t.Errorf("twice in one file: %v", err)
	}
	r, err := openBytes(t, path, good)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Verify(), r.Release()); err != nil {
		t.Error(err)
	}
}

func TestOpen_otherVersion(t *testing.T) {
	t.Parallel()
	other := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	binary.LittleEndian.PutUint32(other[frameVersion:], 4711)
	_, err := openBytes(t, filepath.Join(t.TempDir(), "other.seg"), other)
	if !errors.Is(err, segment.ErrIndex) {
		t.Fatalf("Open: %v", err)
	}
	for _, part := range []string{"other.seg", " 4711 ", fmt.Sprintf("reads format %d", segment.FormatVersion)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// TestOpen_otherSections checks that a file with a section of an unknown kind, and one that lacks a
// section, are rejected with the name of the section.
func TestOpen_otherSections(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	toc := int(binary.LittleEndian.Uint64(good[len(good)-frameFooter:]))
	rejected := func(b []byte, section string) {
		t.Helper()
		_, err := openBytes(t, filepath.Join(t.TempDir(), "other.seg"), repair(b))
		if !errors.Is(err, segment.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), section) {
			t.Errorf("section %s: Open: %v", section, err)
		}
	}
	entry := append([]byte("NEWS\xff\xff\xff\xff"), make([]byte, frameEntry-8)...)
	binary.LittleEndian.PutUint64(entry[8:], uint64(toc))
	rejected(slices.Insert(slices.Clone(good), len(good)-frameFooter, entry...), `unknown section "NEWS"`)
	for at := toc; at < len(good)-frameFooter; at += frameEntry {
		rejected(slices.Delete(slices.Clone(good), at, at+frameEntry), string(good[at:at+4]))
	}
}

// TestOpen_overlappingSections checks that overlapping and duplicate sections are rejected: the
// former could make a small file take much memory, the latter are ambiguous.
func TestOpen_overlappingSections(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Indexes: buildtest.AllIndexes()})
	toc := int(binary.LittleEndian.Uint64(good[len(good)-frameFooter:]))
	tests := map[string]func(first, second []byte){
		"two at one offset":  func(first, second []byte) { copy(second[8:24], first[8:24]) },
		"one in the header":  func(first, _ []byte) { binary.LittleEndian.PutUint64(first[8:], 8) },
		"one unaligned":      func(first, _ []byte) { first[8]++; first[16]-- },
		"two with one name":  func(first, second []byte) { copy(second[:8], first[:8]) },
		"one that overflows": func(_, second []byte) { binary.LittleEndian.PutUint64(second[16:], 1<<64-8) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := slices.Clone(good)
			change(bad[toc:toc+frameEntry], bad[toc+frameEntry:toc+2*frameEntry])
			if _, err := openBytes(t, filepath.Join(t.TempDir(), "bad.seg"), repair(bad)); !errors.Is(err,
				segment.ErrCorrupt) {
				t.Errorf("Open: %v", err)
			}
		})
	}
}

// TestList_unterminatedValue checks a record whose last value has lost its closing quote and
// contains other quotes.
func TestList_unterminatedValue(t *testing.T) {
	t.Parallel()
	fields := everyType()[:1]
	bad := fileOf(t, fields, []herb.Record{{`"rose"`}}, segment.Options{})
	bad[bytes.Index(bad, []byte(`""}`))+1] = '.'
	r, err := openBytes(t, filepath.Join(t.TempDir(), "bad.seg"), bad)
	if err != nil {
		t.Fatal(err)
	}
	q, err := query.Parse("text=rose", fields)
	if err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(time.Minute, func() { panic("the listing does not end") })
	defer watchdog.Stop()
	if _, err := r.List(t.Context(), q); !errors.Is(err, segment.ErrCorrupt) {
		t.Errorf("List: %v", err)
	}
	if err := r.Release(); err != nil {
		t.Error(err)
	}
}

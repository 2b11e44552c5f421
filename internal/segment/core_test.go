package segment_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// rebuild writes the file that is built from the core of b.
func rebuild(t *testing.T, b []byte) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	path, rebuilt := filepath.Join(dir, "old.seg"), filepath.Join(dir, "new.seg")
	replaceFile(t, path, b)
	core, err := segment.OpenCore(path)
	if err != nil {
		return nil, err
	}
	_, err = segment.Create(t.Context(), rebuilt, core.Fields(), core.Records(t.Context()), segment.Options{})
	if err := errors.Join(core.Verify(), err, core.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(rebuilt)
}

// withFormat returns a copy of a file with another format version.
func withFormat(b []byte, version uint32) []byte {
	b = bytes.Clone(b)
	binary.LittleEndian.PutUint32(b[frameVersion:], version)
	return b
}

// TestCore_rebuild checks that the core determines the file: whatever its indexes are called, the
// same bytes are built from it.
func TestCore_rebuild(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{})
	for name, b := range map[string][]byte{
		"current":        good,
		"earlier format": withFormat(good, 1),
		"later format":   withFormat(good, 4711),
		"other rules":    replaceMeta(t, good, `"rules":"1, `, `"rules":"9, `),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rebuilt, err := rebuild(t, b)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(rebuilt, good) {
				t.Errorf("rebuilt %d bytes, want the %d of a new file", len(rebuilt), len(good))
			}
		})
	}
}

// TestCore_rebuildCategories checks that a rebuilt index has the words of category labels, which
// are in the description of the file.
func TestCore_rebuildCategories(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "status", Type: herb.TypeNumber, Searchable: true, Ordered: true,
		Categories: []herb.Category{{Value: "1", Label: "Living oak"}, {Value: "2"}}}}
	good := fileOf(t, fields, []herb.Record{{"1"}, {"2"}, {"1.0"}}, segment.Options{})
	rebuilt, err := rebuild(t, withFormat(good, 1))
	must.NoError(t, err)
	if !bytes.Equal(rebuilt, good) {
		t.Errorf("rebuilt %d bytes, want the %d of a new file", len(rebuilt), len(good))
	}
	path := filepath.Join(t.TempDir(), "rebuilt.seg")
	replaceFile(t, path, rebuilt)
	r, err := segment.Open(path)
	must.NoError(t, err)
	defer r.Close()
	q, err := query.Parse("search=oak", fields)
	must.NoError(t, err)
	if page, err := r.List(t.Context(), q); err != nil || page.Total != 2 {
		t.Errorf("found %d records, error %v", page.Total, err)
	}
}

// TestOpenCore_rejected checks that a file whose core this program cannot read is not guessed at.
func TestOpenCore_rejected(t *testing.T) {
	t.Parallel()
	good := fileOf(t, everyType(), fewRecords(), segment.Options{Program: "v9.9.9"})
	flags := bytes.Clone(good)
	flags[frameVersion+4] = 1
	for name, test := range map[string]struct {
		file []byte
		err  error
		says []string
	}{
		"unknown flags": {flags, segment.ErrCorrupt, nil},
		"unknown type": {replaceMeta(t, good, `"type":"date"`, `"type":"tide"`), segment.ErrIndex,
			[]string{`"tide"`, "v9.9.9"}},
		"truncated": {good[:len(good)-1], segment.ErrTruncated, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rebuild(t, test.file)
			if !errors.Is(err, test.err) {
				t.Fatalf("OpenCore: %v, want %v", err, test.err)
			}
			for _, part := range test.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
}

// replaceMeta returns a file with a replacement of the same length in META, and valid checksums.
func replaceMeta(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	b = bytes.Clone(b)
	table := crc32.MakeTable(crc32.Castagnoli)
	footer := len(b) - frameFooter
	toc := b[binary.LittleEndian.Uint64(b[footer:]):footer]
	for e := toc; len(e) > 0; e = e[32:] {
		if string(e[:4]) != "META" {
			continue
		}
		start := binary.LittleEndian.Uint64(e[8:])
		meta := b[start : start+binary.LittleEndian.Uint64(e[16:])]
		if len(from) != len(to) || !bytes.Contains(meta, []byte(from)) {
			t.Fatalf("cannot replace %q in %s", from, meta)
		}
		copy(meta, bytes.Replace(meta, []byte(from), []byte(to), 1))
		binary.LittleEndian.PutUint32(e[24:], crc32.Checksum(meta, table))
	}
	binary.LittleEndian.PutUint32(b[footer+24:], crc32.Checksum(toc, table))
	binary.LittleEndian.PutUint32(b[footer+28:], crc32.Checksum(b[footer:footer+28], table))
	return b
}

// TestCore_recordsOfAnyIndex checks that the records of a file are read without its indexes.
func TestCore_recordsOfAnyIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "old.seg")
	replaceFile(t, path, withFormat(fileOf(t, everyType(), fewRecords(), segment.Options{Program: "v1.2.3"}), 1))
	core, err := segment.OpenCore(path)
	if err != nil {
		t.Fatal(err)
	}
	defer core.Close()
	if core.HasCurrentIndex() || core.Index() != "f1-r1" || core.Program() != "v1.2.3" ||
		segment.CurrentIndex() != "f5-r1" {
		t.Errorf("index %s of program %s", core.Index(), core.Program())
	}
	var got []herb.Record
	for r, err := range core.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if want := fewRecords(); len(got) != len(want) || core.Len() != len(want) {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
}

package migrate

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// FormatVersion is the version of the dump format that Write writes. Read reads it and all earlier ones.
const FormatVersion = 1

// Header is the first line of a dump.
type Header struct {
	Format  int       `json:"format"` // FormatVersion
	Created time.Time `json:"created"`
	Program string    `json:"program"` // version of the program that wrote it
}

// end is the last line of a section.
type end struct {
	Section string `json:"section"`
	Count   int    `json:"count"`  // of entries
	SHA256  string `json:"sha256"` // of all lines of the dump up to this one
}

// Write writes entries as a dump: one JSON object per line, with a single member that names the section.
func Write(w io.Writer, h Header, entries iter.Seq2[Entry, error]) error {
	buffered, sum := bufio.NewWriter(w), sha256.New()
	encoder := json.NewEncoder(io.MultiWriter(buffered, sum))
	encode := func(member string, value any) error { return encoder.Encode(map[string]any{member: value}) }
	if err := encode("dump", h); err != nil {
		return err
	}
	sections, section, count := Sections(), 0, 0
	endSections := func(until int) (err error) {
		for ; err == nil && section < until; section, count = section+1, 0 {
			err = encode("end", end{sections[section].Name, count, hex.EncodeToString(sum.Sum(nil))})
		}
		return err
	}
	for e, err := range entries {
		if err == nil {
			of, _ := e.position()
			err = endSections(of)
		}
		if err == nil {
			count++
			err = encode(sections[section].Name, e)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(endSections(len(sections)), buffered.Flush())
}

// Read yields the entries of a dump and fails where it is damaged or incomplete.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines, d := bufio.NewReader(r), decoder{hash: sha256.New()}
		for n := 1; n == 1 || len(d.sections) > 0; n++ {
			line, err := lines.ReadBytes('\n')
			if err == io.EOF {
				err = errors.New("the dump is incomplete")
			}
			var e Entry
			if err == nil {
				e, err = d.decode(line)
			}
			if err != nil {
				yield(nil, herb.Errorf(herb.CodeInvalid, "line %d of the dump: %v", n, err))
				return
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// decoder decodes the lines of a dump.
type decoder struct {
	hash     hash.Hash // of the lines so far
	sections []Section // that are not complete
	count    int       // of entries in the first of them
}

// decode returns the entry of a line, nil for a header or the end of a section.
func (d *decoder) decode(line []byte) (e Entry, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil || len(members) != 1 {
		return nil, errors.New("not a JSON object with one member")
	}
	for name, value := range members {
		switch {
		case d.sections == nil:
			err = d.readHeader(name, value)
		case name == "end":
			err = d.readEnd(value)
		case name == d.sections[0].Name:
			e = d.sections[0].New()
			d.count++
			err = json.Unmarshal(value, e)
		default:
			err = fmt.Errorf("unexpected entry %q in section %s", name, d.sections[0].Name)
		}
	}
	d.hash.Write(line)
	return e, err
}

func (d *decoder) readHeader(name string, value json.RawMessage) error {
	var h Header
	if err := json.Unmarshal(value, &h); err != nil || name != "dump" {
		return errors.New("not a dump of Herbarium")
	}
	if h.Format < 1 || h.Format > FormatVersion {
		return fmt.Errorf("format %d is newer than %d; load the dump with herbarium %s or later", h.Format, FormatVersion, h.Program)
	}
	d.sections = slices.DeleteFunc(Sections(), func(s Section) bool { return s.Since > h.Format })
	return nil
}

// readEnd checks the end of a section.
func (d *decoder) readEnd(value json.RawMessage) error {
	want := end{d.sections[0].Name, d.count, hex.EncodeToString(d.hash.Sum(nil))}
	var got end
	if err := json.Unmarshal(value, &got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the dump is damaged: section %s has %d entries and hash %s, but %+v was written", want.Section, want.Count,
			want.SHA256, got)
	}
	d.sections, d.count = d.sections[1:], 0
	return nil
}

// DumpFile is a dump in a file.
type DumpFile struct {
	path   string
	plants int
}

// OpenDump reads a dump completely, to find damage before anything is loaded.
func OpenDump(ctx context.Context, path string) (*DumpFile, error) {
	d := &DumpFile{path: path}
	for e, err := range d.Entries(ctx, everything()) {
		if err != nil {
			return nil, err
		}
		if _, ok := e.(*Plant); ok {
			d.plants++
		}
	}
	return d, nil
}

// Plants implements Source.
func (d *DumpFile) Plants() int { return d.plants }

// Entries implements Source.
func (d *DumpFile) Entries(ctx context.Context, in Range) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := os.Open(d.path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		for e, err := range Read(f) {
			switch e := e.(type) {
			case *Plant:
				if e.Number > in.Plants {
					continue
				}
			case *IdempotencyKey:
				if e.Plant > in.Plants || e.Created.Before(in.Since) {
					continue
				}
			}
			if !yield(e, errors.Join(err, ctx.Err())) {
				return
			}
		}
	}
}

// save writes a dump of an installation to a file, and its segment files to a folder, which may have some of them from an
// earlier run.
func save(ctx context.Context, from Installation, path string, files Files, h Header, o Options) (r Result, err error) {
	source, err := takeSnapshot(ctx, from, false, true)
	if err != nil {
		return r, err
	}
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return r, err
	}
	err = Write(f, h, func(yield func(Entry, error) bool) {
		for e, err := range source.Entries(ctx, everything()) {
			if s, ok := e.(*Segment); ok && err == nil {
				err = ensureSegment(ctx, from.Files, files, s, o, &r)
			}
			if err == nil {
				r.count(e)
			}
			if !yield(e, err) {
				return
			}
		}
	})
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return r, err
	}
	return r, os.Rename(part, path)
}

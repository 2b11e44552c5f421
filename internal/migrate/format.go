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

// FormatVersion is the version of the backup format that Write writes. Read reads it and all
// earlier ones.
const FormatVersion = 3

// Header is the first line of a backup.
type Header struct {
	Format  int       `json:"format"` // FormatVersion
	Created time.Time `json:"created"`
	Program string    `json:"program"` // version of the program that wrote it
	LeftOut LeftOut   `json:"left_out,omitzero"`
}

// end is the last line of a section.
type end struct {
	Section string `json:"section"`
	Count   int    `json:"count"`  // of entries
	SHA256  string `json:"sha256"` // of all lines up to this one
}

// Write writes entries as lines: one JSON object per line, with a single member that names the
// section.
func Write(w io.Writer, h Header, entries iter.Seq2[Entry, error]) error {
	buffered, sum := bufio.NewWriter(w), sha256.New()
	encoder := json.NewEncoder(io.MultiWriter(buffered, sum))
	encode := func(member string, value any) error { return encoder.Encode(map[string]any{member: value}) }
	if err := encode("backup", h); err != nil {
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

// Read yields the entries of a backup and fails where it is damaged or incomplete. It sets h to the
// header before the first entry.
func Read(r io.Reader, h *Header) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines, d := bufio.NewReader(r), decoder{hash: sha256.New(), header: h}
		for n := 1; n == 1 || len(d.sections) > 0; n++ {
			line, err := lines.ReadBytes('\n')
			if err == io.EOF {
				err = errors.New("the backup is incomplete")
			}
			var e Entry
			if err == nil {
				e, err = d.decode(line)
			}
			if err != nil {
				yield(nil, herb.Errorf(herb.CodeInvalid, "line %d of "+entriesFile+": %v", n, err))
				return
			}
			if e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

type decoder struct {
	header   *Header
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
			if dataset, ok := e.(*Dataset); ok && d.header.Format < 2 {
				dataset.forgetSources()
			}
		default:
			err = fmt.Errorf("unexpected entry %q in section %s", name, d.sections[0].Name)
		}
	}
	d.hash.Write(line)
	return e, err
}

func (d *decoder) readHeader(name string, value json.RawMessage) error {
	var h Header
	if err := json.Unmarshal(value, &h); err != nil || name != "backup" || h.Format < 1 {
		return errors.New("not a backup of Herbarium")
	}
	if h.Format > FormatVersion {
		return fmt.Errorf("format %d is newer than %d; restore the backup with herbarium %s or later", h.Format,
			FormatVersion, h.Program)
	}
	*d.header = h
	d.sections = slices.DeleteFunc(Sections(), func(s Section) bool { return s.Since > h.Format })
	return nil
}

func (d *decoder) readEnd(value json.RawMessage) error {
	want := end{d.sections[0].Name, d.count, hex.EncodeToString(d.hash.Sum(nil))}
	var got end
	if err := json.Unmarshal(value, &got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the backup is damaged: section %s has %d entries and hash %s, but %+v was written",
			want.Section, want.Count,
			want.SHA256, got)
	}
	d.sections, d.count = d.sections[1:], 0
	return nil
}

// EntryFile is a file with the entries of a backup.
type EntryFile struct{ Path string }

// Entries yields the entries of a Source.
func (d *EntryFile) Entries(ctx context.Context, since time.Time) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		f, err := os.Open(d.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		for e, err := range Read(f, &Header{}) {
			if k, ok := e.(*IdempotencyKey); ok && k.Created.Before(since) {
				continue
			}
			if !yield(e, errors.Join(err, ctx.Err())) {
				return
			}
		}
	}
}

package segment

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Reader is a read-only, memory-mapped view of one dataset version. It is safe for concurrent use. Release unmaps the
// file after the last reader.
type Reader struct {
	file     []byte
	sections []section
	contents map[sectionName][]byte
	meta     meta
	labels   []int // lengths of the field names as encoded in a record, including quotes and colon
	records  []byte
	starts   u64s
	columns  []column
	words    words
	bitsets  sync.Pool // of *bitset, one bit per record
	holders  atomic.Int64
	scratch  scratches
}

// Open maps a segment and validates its frame, in time independent of its size. The caller holds a reference until
// Release. Use Verify to check the content. Open fails with herb.CodeUnavailable if the process or the machine is out
// of file descriptors, memory or maps; a retry may succeed.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 {
		return nil, fmt.Errorf("%s: %w: it is empty", path, ErrTruncated)
	}
	file, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, openError(fmt.Errorf("cannot map %s: %w", path, err))
	}
	r := &Reader{file: file}
	r.holders.Store(1)
	if err := r.guard(r.open); err != nil {
		_ = unmapFile(file) // return the first error
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.Forget() // reading the headers of thousands of sections loads most of a file
	return r, nil
}

// openError assigns herb.CodeUnavailable to a failure to open or map a file whose cause may be temporary.
func openError(err error) error {
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, passing) {
			return herb.Wrap(herb.CodeUnavailable, err, "a dataset cannot be opened at the moment")
		}
	}
	return err
}

// open locates the sections.
func (r *Reader) open() (err error) {
	if r.sections, err = readTable(r.file); err != nil {
		return err
	}
	r.contents = make(map[sectionName][]byte, len(r.sections))
	for _, s := range r.sections {
		name := sectionName{s.tag, s.field}
		if r.contents[name] != nil {
			return fmt.Errorf("%w: duplicate section %s", ErrCorrupt, s.tag)
		}
		r.contents[name] = r.file[s.offset : s.offset+s.length]
	}
	if err := r.checkSection(tagMeta); err != nil {
		return err
	}
	if err := json.Unmarshal(r.section(tagMeta, noField), &r.meta); err != nil {
		return fmt.Errorf("%w: description: %w", ErrCorrupt, err)
	}
	if err := r.meta.checkRules(text.Rules()); err != nil {
		return err
	}
	n := r.meta.Records
	if n < 0 || n > MaxRecords {
		return fmt.Errorf("%w: %d records", ErrCorrupt, n)
	}
	r.records, r.starts = r.section(tagRecords, noField), u64s(r.section(tagStarts, noField))
	if r.starts.len() != n+1 {
		return fmt.Errorf("%w: %d records begin, of %d", ErrCorrupt, r.starts.len()-1, n)
	}
	for _, f := range r.meta.Fields {
		r.labels = append(r.labels, len(herb.AppendJSONString(nil, f.Name))+1)
	}
	r.columns = make([]column, len(r.meta.Fields))
	for i, f := range r.meta.Fields {
		if err := r.columns[i].open(r, f, uint32(i)); err != nil {
			return err
		}
	}
	return r.words.open(r)
}

// sectionName identifies a section.
type sectionName struct {
	tag   tag
	field uint32
}

// section returns the content of a section, or nil if there is none.
func (r *Reader) section(t tag, field uint32) []byte { return r.contents[sectionName{t, field}] }

// checkSection verifies the checksums of the sections of a kind.
func (r *Reader) checkSection(t tag) error {
	found := false
	for _, s := range r.sections {
		if s.tag != t {
			continue
		}
		found = true
		if crc32.Checksum(r.file[s.offset:s.offset+s.length], castagnoli()) != s.crc {
			return fmt.Errorf("%w: section %s", ErrCorrupt, s.tag)
		}
	}
	if !found {
		return fmt.Errorf("%w: section %s is missing", ErrCorrupt, t)
	}
	return nil
}

// Verify reads the whole file and verifies its checksums.
func (r *Reader) Verify() error {
	const step = 16 << 20
	return r.guard(func() error {
		end, kept := uint64(headerSize), uint64(0)
		for _, s := range r.sections {
			if !zero(r.file[end:s.offset]) {
				return fmt.Errorf("%w: before section %s", ErrCorrupt, s.tag)
			}
			if r.checksum(s) != s.crc {
				return fmt.Errorf("%w: section %s", ErrCorrupt, s.tag)
			}
			// Sections may be smaller than a memory page.
			if end = s.offset + s.length; end-kept >= step {
				dropPages(r.file[kept:end])
				kept = end
			}
		}
		if table := len(r.file) - footerSize - entrySize*len(r.sections); !zero(r.file[end:table]) {
			return fmt.Errorf("%w: before the table of contents", ErrCorrupt)
		}
		return nil
	})
}

// checksum returns the checksum of a section. It releases pages after reading, because a file may be larger than
// memory.
func (r *Reader) checksum(s section) uint32 {
	const step = 16 << 20
	sum := uint32(0)
	for at, end := s.offset, s.offset+s.length; at < end; at += step {
		part := r.file[at:min(at+step, end)]
		sum = crc32.Update(sum, castagnoli(), part)
		dropPages(part)
	}
	return sum
}

// zero reports whether all bytes are zero.
func zero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// Fields returns the fields of the records.
func (r *Reader) Fields() []herb.Field { return r.meta.Fields }

// Size returns the length of the file.
func (r *Reader) Size() int { return len(r.file) }

// Len returns the number of records.
func (r *Reader) Len() int { return r.meta.Records }

// Acquire adds a reference. It returns false if the last one has been released; the reader must then not be used.
func (r *Reader) Acquire() bool {
	for {
		n := r.holders.Load()
		if n == 0 {
			return false
		}
		if r.holders.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Release releases a reference. The last one unmaps the file.
func (r *Reader) Release() error {
	if r.holders.Add(-1) > 0 {
		return nil
	}
	return unmapFile(r.file)
}

// Holders returns the current number of references.
func (r *Reader) Holders() int { return int(r.holders.Load()) }

// record returns the JSON of a record.
func (r *Reader) record(n uint32) []byte {
	return r.records[r.starts.at(int(n)):r.starts.at(int(n)+1)]
}

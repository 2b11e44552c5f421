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

// Reader is an open segment.
type Reader struct {
	file     []byte
	sections []section
	contents map[sectionName][]byte
	meta     meta
	labels   []int // lengths of the names of the fields as they stand in a record, each with its quotes and the colon
	records  []byte
	starts   u64s
	columns  []column
	words    words
	bitsets  sync.Pool // of *bitset, a bit for each record
	holders  atomic.Int64
	scratch  scratches
}

// Open maps a segment and checks its frame, which takes the same time for any size. The caller holds the reader until
// it calls Release. Whether the content is intact is for Verify to say. It fails with herb.CodeUnavailable if the process
// or the machine is out of file descriptors, memory or maps: trying again later may succeed.
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
		_ = unmapFile(file) // the first error is the one to know
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.Forget() // a look at the beginnings of thousands of sections brings most of a file into memory
	return r, nil
}

// openError gives a failure to open or map a file herb.CodeUnavailable if its cause may pass.
func openError(err error) error {
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, passing) {
			return herb.Wrap(herb.CodeUnavailable, err, "a dataset cannot be opened at the moment")
		}
	}
	return err
}

// open finds the sections.
func (r *Reader) open() (err error) {
	if r.sections, err = readTable(r.file); err != nil {
		return err
	}
	r.contents = make(map[sectionName][]byte, len(r.sections))
	for _, s := range r.sections {
		name := sectionName{s.tag, s.field}
		if r.contents[name] != nil {
			return fmt.Errorf("%w: there are two sections %s", ErrCorrupt, s.tag)
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

// sectionName is what sections are found by.
type sectionName struct {
	tag   tag
	field uint32
}

// section returns the content of a section; nil if there is none.
func (r *Reader) section(t tag, field uint32) []byte { return r.contents[sectionName{t, field}] }

// checkSection compares the sections of a kind with their checksums.
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

// Verify reads the whole file and compares it with its checksums.
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
			// Sections may be smaller than what the system keeps at a time.
			if end = s.offset + s.length; end-kept >= step {
				forget(r.file[kept:end])
				kept = end
			}
		}
		if table := len(r.file) - footerSize - entrySize*len(r.sections); !zero(r.file[end:table]) {
			return fmt.Errorf("%w: before the table of contents", ErrCorrupt)
		}
		return nil
	})
}

// checksum computes the checksum of a section. It does not keep in memory what it has read: a file may be larger than
// that.
func (r *Reader) checksum(s section) uint32 {
	const step = 16 << 20
	sum := uint32(0)
	for at, end := s.offset, s.offset+s.length; at < end; at += step {
		part := r.file[at:min(at+step, end)]
		sum = crc32.Update(sum, castagnoli(), part)
		forget(part)
	}
	return sum
}

// zero reports whether there is nothing in the bytes between sections.
func zero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// Fields are the fields of the records.
func (r *Reader) Fields() []herb.Field { return r.meta.Fields }

// Size is the length of the file.
func (r *Reader) Size() int { return len(r.file) }

// Len is the number of records.
func (r *Reader) Len() int { return r.meta.Records }

// Acquire holds the reader once more; false means that the last holder has left and it is of no use any more.
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

// Release gives the reader back. The last one to do so unmaps the file.
func (r *Reader) Release() error {
	if r.holders.Add(-1) > 0 {
		return nil
	}
	return unmapFile(r.file)
}

// Holders is how many hold the reader at the moment.
func (r *Reader) Holders() int { return int(r.holders.Load()) }

// record returns the JSON of a record.
func (r *Reader) record(n uint32) []byte {
	return r.records[r.starts.at(int(n)):r.starts.at(int(n)+1)]
}

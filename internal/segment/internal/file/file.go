package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"syscall"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/guard"
)

// dropStep is the number of bytes after which pages that were read sequentially are released,
// because a file may be larger than memory.
const dropStep = 16 << 20

// File is a mapped segment with a valid frame, or a segment in memory.
type File struct {
	Data     []byte
	inMemory bool // Data is on the heap
	Sections []Section
	Meta     Meta
	contents map[sectionName][]byte
}

// Open maps a file and validates its frame, in time independent of its size. It fails with
// herb.CodeUnavailable if the process or the machine is out of file descriptors, memory or maps; a
// retry may succeed.
func Open(path string) (*File, error) {
	return openFile(path, func(f *File) error {
		if err := f.checkIndex(); err != nil {
			return err
		}
		return f.checkSections()
	})
}

// OpenCore is Open for a file with the indexes of any release. Only the sections META, RECS and
// ROFF may be read.
func OpenCore(path string) (*File, error) { return openFile(path, (*File).checkCore) }

// openFile maps a file and calls check with its frame.
func openFile(path string, check func(*File) error) (*File, error) {
	file, err := openMap(path)
	if err != nil {
		return nil, err
	}
	if err := file.Guard(func() error {
		if err := file.readFrame(); err != nil {
			return err
		}
		return check(file)
	}); err != nil {
		_ = file.Close() // return the first error
		return nil, err
	}
	return file, nil
}

// openMap maps a file.
func openMap(path string) (*File, error) {
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
		return nil, fmt.Errorf("%w: it is empty", ErrTruncated)
	}
	data, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, openError(fmt.Errorf("cannot map: %w", err))
	}
	return &File{Data: data}, nil
}

// openError assigns herb.CodeUnavailable to a failure to open or map a file whose cause may be
// temporary.
func openError(err error) error {
	for _, temporary := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, temporary) {
			return herb.Wrap(herb.CodeUnavailable, err, "a dataset cannot be opened at the moment")
		}
	}
	return err
}

// readFrame reads the table of contents and the META section.
func (f *File) readFrame() (err error) {
	f.Sections, err = ReadTable(f.Data)
	if err != nil {
		return err
	}
	if err := f.locateSections(); err != nil {
		return err
	}
	i := slices.IndexFunc(f.Sections, func(s Section) bool { return s.Tag == TagMetadata && s.Field == NoField })
	if i < 0 {
		return fmt.Errorf("%w: section %s is missing", guard.ErrCorrupt, TagMetadata)
	}
	if err := f.readMeta(f.Sections[i], true); err != nil {
		return err
	}
	if n := f.Meta.Records; n < 0 || n > MaxRecords {
		return fmt.Errorf("%w: %d records", guard.ErrCorrupt, n)
	}
	return nil
}

// readMeta reads the META section, with or without the fields, which precede the rest.
func (f *File) readMeta(s Section, withFields bool) error {
	content := f.content(s)
	if crc32.Checksum(content, castagnoli()) != s.CRC {
		return fmt.Errorf("%w: section %s", guard.ErrCorrupt, TagMetadata)
	}
	if afterFields := bytes.LastIndex(content, []byte(`"records":`)); afterFields > 0 && !withFields {
		content = append([]byte("{"), content[afterFields:]...)
	}
	if err := json.Unmarshal(content, &f.Meta); err != nil {
		return fmt.Errorf("%w: description: %w", guard.ErrCorrupt, err)
	}
	return nil
}

func (f *File) content(s Section) []byte { return f.Data[s.Offset : s.Offset+s.Length] }

// locateSections indexes the sections by their names.
func (f *File) locateSections() error {
	f.contents = make(map[sectionName][]byte, len(f.Sections))
	for _, s := range f.Sections {
		name := sectionName{s.Tag, s.Field}
		if f.contents[name] != nil {
			return fmt.Errorf("%w: duplicate section %s", guard.ErrCorrupt, s.Tag)
		}
		f.contents[name] = f.content(s)
	}
	return nil
}

// Section returns the content of a section. It is nil if the file does not have it, which is not
// possible for a section that every file has, or every field of its kind.
func (f *File) Section(t Tag, field uint32) []byte { return f.contents[sectionName{t, field}] }

// Guard calls read and converts faults of the map and failed format checks to errors; see
// guard.Run.
func (f *File) Guard(read func() error) error { return guard.Run(f.Data, read) }

// Close unmaps the file.
func (f *File) Close() error {
	if f.inMemory {
		return nil
	}
	return unmapFile(f.Data)
}

// DropPages advises the system to release the pages of some bytes of a mapped file. They are read
// again on demand.
func (f *File) DropPages(b []byte) {
	if !f.inMemory { // the system would replace them by zeros
		dropPages(b)
	}
}

// Verify reads the entire file and verifies its checksums. A segment in memory has no disk that
// could damage it.
func (f *File) Verify() error {
	if f.inMemory {
		return nil
	}
	return f.Guard(func() error {
		end, dropped := uint64(HeaderSize), uint64(0)
		for _, s := range f.Sections {
			if !zero(f.Data[end:s.Offset]) {
				return fmt.Errorf("%w: before section %s", guard.ErrCorrupt, s.Tag)
			}
			if f.checksum(s) != s.CRC {
				return fmt.Errorf("%w: section %s", guard.ErrCorrupt, s.Tag)
			}
			// Sections may be smaller than a memory page.
			end = s.Offset + s.Length
			if end-dropped >= dropStep {
				f.DropPages(f.Data[dropped:end])
				dropped = end
			}
		}
		if table := len(f.Data) - FooterSize - EntrySize*len(f.Sections); !zero(f.Data[end:table]) {
			return fmt.Errorf("%w: before the table of contents", guard.ErrCorrupt)
		}
		return nil
	})
}

// checksum returns the checksum of a section.
func (f *File) checksum(s Section) (sum uint32) {
	for chunk := range slices.Chunk(f.content(s), dropStep) {
		sum = crc32.Update(sum, castagnoli(), chunk)
		f.DropPages(chunk)
	}
	return sum
}

// zero reports whether all bytes are zero.
func zero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

package segment

import (
	"encoding/binary"
	"io"
	"math"
	"os"

	"herbarium/internal/filesystem"
)

// NoRecord is the number of a record that a version does not have.
const NoRecord = math.MaxUint32

// Difference is a record that two versions do not have in common, by its number in each: one was
// removed or added if the other number is NoRecord, and changed otherwise.
type Difference struct{ From, To uint32 }

// Differences is a list of differences, in memory or in a file. It is safe for concurrent use once
// it is complete.
type Differences struct {
	dir  string
	n    int
	buf  []byte
	file *os.File // nil while everything is in buf

	start int64 // of the differences in file
}

const (
	differenceSize   = 8
	differencesInRAM = 1 << 20 // bytes
)

// Len returns the number of differences.
func (d *Differences) Len() int { return d.n }

// Size returns the number of bytes that the list occupies in memory or on the disk.
func (d *Differences) Size() int64 { return differenceSize * int64(d.n) }

func (d *Differences) add(x Difference) error {
	d.buf = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(d.buf, x.From), x.To)
	d.n++
	if len(d.buf) < differencesInRAM {
		return nil
	}
	return d.flush()
}

// flush moves the differences in memory to the file.
func (d *Differences) flush() (err error) {
	if d.file == nil {
		d.file, err = filesystem.TempFile(d.dir)
		if err != nil {
			return err
		}
	}
	_, err = d.file.Write(d.buf)
	d.buf = d.buf[:0]
	return err
}

// finish completes the list.
func (d *Differences) finish() error {
	if d.file == nil {
		return nil
	}
	return d.flush()
}

func (d *Differences) close() error {
	if d == nil || d.file == nil {
		return nil
	}
	return d.file.Close()
}

// Read reads the differences from a position on into a slice, and returns their number; 0 at the
// end.
func (d *Differences) Read(into []Difference, at int) (int, error) {
	n := min(len(into), d.n-at)
	if n <= 0 {
		return 0, nil
	}
	var b []byte
	if d.file == nil {
		b = d.buf[at*differenceSize:]
	} else {
		b = make([]byte, n*differenceSize)
		if _, err := io.ReadFull(io.NewSectionReader(d.file, d.start+int64(at)*differenceSize, int64(len(b))),
			b); err != nil {
			return 0, err
		}
	}
	for i := range n {
		into[i] = Difference{binary.LittleEndian.Uint32(b[i*differenceSize:]),
			binary.LittleEndian.Uint32(b[i*differenceSize+4:])}
	}
	return n, nil
}

package segment

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"herbarium/internal/herb"
)

// A comparison is stored in a file: the magic, the length and the checksum of the header, the
// checksum of the differences, the header in JSON, and the differences, 8 bytes each. Numbers are
// little-endian; checksums are CRC-32C.

// ComparisonLayout is incremented when the content of comparison files changes.
const ComparisonLayout = 1

const (
	comparisonMagic  = "herbcmp1"
	comparisonPrefix = len(comparisonMagic) + 3*4
	maxHeader        = 64 << 20
)

// ErrComparison reports that a file is not an intact comparison of the versions that it is about.
var ErrComparison = errors.New("damaged comparison")

// comparisonHeader is the header of a comparison file.
type comparisonHeader struct {
	Records       [2]int             `json:"records"` // of both versions
	Key           []string           `json:"key"`
	Added         int                `json:"added"`
	Removed       int                `json:"removed"`
	Changed       int                `json:"changed"`
	Unchanged     int                `json:"unchanged"`
	FieldsAdded   []string           `json:"fieldsAdded"`
	FieldsRemoved []string           `json:"fieldsRemoved"`
	FieldsRetyped []string           `json:"fieldsRetyped"`
	ChangedFields []herb.FieldChange `json:"changedFields"`
}

// Write writes the file of a comparison.
func (c *Comparison) Write(out io.Writer) error {
	header, err := json.Marshal(comparisonHeader{
		[2]int{c.Removed + c.Changed + c.Unchanged, c.Added + c.Changed + c.Unchanged}, c.Key, c.Added, c.Removed,
		c.Changed, c.Unchanged,
		c.FieldsAdded, c.FieldsRemoved, c.FieldsRetyped, c.ChangedFields,
	})
	if err != nil {
		return err
	}
	sum, err := c.Differences.checksum()
	if err != nil {
		return err
	}
	b := binary.LittleEndian.AppendUint32([]byte(comparisonMagic), uint32(len(header)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(header, castagnoli()))
	b = append(binary.LittleEndian.AppendUint32(b, sum), header...)
	buffered := bufio.NewWriter(out)
	if _, err := buffered.Write(b); err != nil {
		return err
	}
	if _, err := io.Copy(buffered, c.Differences.reader()); err != nil {
		return err
	}
	return buffered.Flush()
}

// OpenComparison reads the comparison of two versions from a file, which Close closes. It fails
// with ErrComparison if the file is damaged or about other versions.
func OpenComparison(file *os.File, from, to *Reader) (*Comparison, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	prefix := make([]byte, comparisonPrefix)
	if _, err := file.ReadAt(prefix, 0); err != nil || string(prefix[:len(comparisonMagic)]) != comparisonMagic {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrComparison, file.Name()), err)
	}
	numbers := prefix[len(comparisonMagic):]
	length := int64(binary.LittleEndian.Uint32(numbers))
	start := int64(comparisonPrefix) + length
	if length > maxHeader || start > info.Size() {
		return nil, fmt.Errorf("%w: %s: length of the header", ErrComparison, file.Name())
	}
	header := make([]byte, length)
	if _, err := file.ReadAt(header, int64(comparisonPrefix)); err != nil {
		return nil, err
	}
	var h comparisonHeader
	if crc32.Checksum(header, castagnoli()) != binary.LittleEndian.Uint32(numbers[4:]) {
		return nil, fmt.Errorf("%w: %s: checksum of the header", ErrComparison, file.Name())
	}
	if err := json.Unmarshal(header, &h); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrComparison, err)
	}
	n := h.Added + h.Removed + h.Changed
	if h.Records != [2]int{from.Len(), to.Len()} || info.Size() != start+differenceSize*int64(n) {
		return nil, fmt.Errorf("%w: %s: number of records", ErrComparison, file.Name())
	}
	d := &Differences{n: n, file: file, start: start}
	if sum, err := d.checksum(); err != nil || sum != binary.LittleEndian.Uint32(numbers[8:]) {
		return nil, errors.Join(fmt.Errorf("%w: %s: checksum of the differences", ErrComparison, file.Name()), err)
	}
	return &Comparison{
		Key: h.Key, Added: h.Added, Removed: h.Removed, Changed: h.Changed, Unchanged: h.Unchanged,
		FieldsAdded: h.FieldsAdded, FieldsRemoved: h.FieldsRemoved, FieldsRetyped: h.FieldsRetyped,
		ChangedFields: h.ChangedFields, Differences: d,
	}, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// reader returns a reader of all differences.
func (d *Differences) reader() io.Reader {
	if d.file == nil {
		return bytes.NewReader(d.buf)
	}
	return io.NewSectionReader(d.file, d.start, d.Size())
}

// checksum returns the checksum of all differences.
func (d *Differences) checksum() (uint32, error) {
	sum := crc32.New(castagnoli())
	_, err := io.Copy(sum, d.reader())
	return sum.Sum32(), err
}

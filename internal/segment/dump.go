package segment

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/file"
)

// Stat is the space used by the parts of a segment.
type Stat struct {
	Version  int        `json:"version"` // of the format
	Bytes    int64      `json:"bytes"`   // of the file
	Records  int        `json:"records"`
	Terms    int        `json:"terms"`    // distinct words
	Words    int        `json:"words"`    // of all records
	Sections []KindStat `json:"sections"` // by kind, in the order of their first occurrence in the file
	Frame    int64      `json:"frame"`    // bytes outside the sections: header, padding, table of contents, footer
}

// KindStat is the space used by the sections of one kind.
type KindStat struct {
	Tag      string `json:"tag"`
	Sections int    `json:"sections"` // one for each field that has it, or one for the file
	Bytes    int64  `json:"bytes"`
}

// PerRecord returns bytes divided by the number of records, or 0 if there are none.
func (s Stat) PerRecord(bytes int64) float64 {
	if s.Records == 0 {
		return 0
	}
	return float64(bytes) / float64(s.Records)
}

// Stat returns the sizes of the sections. It reads only what Open has read.
func (c *Core) Stat() Stat {
	s := Stat{
		Version: c.file.Index().Format,
		Bytes:   int64(len(c.file.Data)),
		Records: c.file.Meta.Records,
		Terms:   c.file.Meta.Terms,
		Words:   c.file.Meta.Words,
		Frame:   int64(len(c.file.Data)),
	}
	for _, sec := range c.file.Sections {
		name := sec.Tag.String()
		i := slices.IndexFunc(s.Sections, func(k KindStat) bool { return k.Tag == name })
		if i < 0 {
			i = len(s.Sections)
			s.Sections = append(s.Sections, KindStat{Tag: name})
		}
		s.Sections[i].Sections++
		s.Sections[i].Bytes += int64(sec.Length)
		s.Frame -= int64(sec.Length)
	}
	return s
}

// Dump writes a readable inventory: the frame, every section, and a summary of fields and words. It
// does not verify checksums, so that it can describe a damaged file as far as it is readable; use
// Verify for that.
func (r *Reader) Dump(w io.Writer) error {
	var b bytes.Buffer // buffered, because guard is for faults in the map, not for those of w
	if err := r.file.Guard(func() error { return r.dump(&b) }); err != nil {
		return err
	}
	_, err := b.WriteTo(w)
	return err
}

func (r *Reader) dump(b *bytes.Buffer) error {
	footer := r.file.Data[len(r.file.Data)-file.FooterSize:]
	fmt.Fprintf(b, "file     %d bytes, format version %d\n", len(r.file.Data), FormatVersion)
	fmt.Fprintf(b, "table    %d sections, at %d\n", len(r.file.Sections), binary.LittleEndian.Uint64(footer))
	fmt.Fprintf(b, "records  %d\n", r.file.Meta.Records)
	fmt.Fprintf(b, "words    %d in all records, %d of them different\n", r.file.Meta.Words, r.file.Meta.Terms)

	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nFIELD\tNAME\tTYPE\tUSE\tVALUES\tDIFFERENT\tLONG RUNS\tELEMENTS")
	for i := range r.columns {
		c := &r.columns[i]
		elements := "-"
		if c.Field.Type == herb.TypeList {
			elements = fmt.Sprint(c.Elements())
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", i, printable(c.Field.Name), c.Field.Type, use(c.Field),
			c.Values(), c.Distinct(), c.LongRuns(), elements)
	}
	if err := t.Flush(); err != nil {
		return err
	}

	t = tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nSECTION\tFIELD\tOFFSET\tLENGTH\tCRC32C")
	for _, s := range r.file.Sections {
		field := "-"
		if s.Field != file.NoField {
			field = fmt.Sprint(s.Field)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%08x\n", s.Tag, field, s.Offset, s.Length, s.CRC)
	}
	return t.Flush()
}

func use(f herb.Field) string {
	var uses []string
	for _, u := range []struct {
		name string
		can  bool
	}{{"search", f.Searchable}, {"filter", f.Filterable}, {"sort", f.Sortable}} {
		if u.can {
			uses = append(uses, u.name)
		}
	}
	if len(uses) == 0 {
		return "-"
	}
	return strings.Join(uses, ",")
}

// printable returns s, quoted if it could disturb a terminal or a table.
func printable(s string) string {
	if q := fmt.Sprintf("%q", s); q != `"`+s+`"` {
		return q
	}
	return s
}

package xlsx

import (
	"io"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/layout"
	"herbarium/internal/ingest/rows"
)

// readHeader reads up to the first record and names the columns.
func (r *reader) readHeader() error {
	o := &r.options
	isGiven := len(o.HeaderRows) > 0
	isDetected := !isGiven && o.Header == rows.HeaderDetect
	if !isGiven && o.Header == rows.HeaderNone {
		r.setColumns(o.Names)
		return nil
	}
	sampled, err := sample(r.read, o.HeaderRows)
	if err != nil {
		return err
	}
	first, last, names := 0, 0, []string(nil) // of the header
	switch {
	case isGiven && len(sampled) == 0:
		return herb.Invalidf("sheet %q has no row %d", r.in.title, slices.Max(o.HeaderRows))
	case len(sampled) == 0:
		return herb.Invalidf("sheet %q is empty; write the names of the columns in its first row", r.in.title)
	case isGiven:
		for last = -1; last+1 < len(sampled) && sampled[last+1].Line <= slices.Max(o.HeaderRows); {
			last++
		}
		names = r.groupNames(sampled[:last+1], sampled[last+1:])
	case isDetected && o.Skip == 0:
		first = detectHeader(sampled)
	}
	if first < 0 {
		r.note("no header: row %d has values like the rows below it; use --header %d if it names the columns", sampled[0].Line, sampled[0].Line)
		o.Header, r.pending = rows.HeaderNone, sampled
		return nil
	}
	if isDetected {
		first, last, names = r.detectGroups(sampled, first)
	}
	header, below := sampled[first:last+1], sampled[last+1:]
	if first > 0 {
		r.note("row %d is the header; rows above it are not published: %s", sampled[first].Line, layout.List(sampled[:first]))
	}
	if names != nil || len(header) == 1 {
		r.body.Header = layout.UniqueHeader(header, below)
	}
	if names == nil {
		r.setColumns(joinNames(header, o.HeaderJoin))
	} else if r.setColumns(names); isDetected {
		r.note("%s", layout.GroupNote("row", header, r.columns))
	}
	for _, h := range header {
		if r.header = h.Line; !isGiven && sampled[last].Line > 1 {
			o.HeaderRows = append(o.HeaderRows, h.Line)
		}
	}
	if isDetected && r.body.Detect(r.columns, below) {
		below = below[1:] // without the units
	}
	r.pending = below
	return r.book.err
}

func (r *reader) setColumns(names []string) {
	for _, name := range names {
		r.columns = append(r.columns, rows.Column{Name: name})
	}
	r.named, r.kinds = len(names), make([]layout.Kind, len(names))
}

// joinNames joins the values that the rows of a header have for each column.
func joinNames(header []layout.Row, separator string) (names []string) {
	for _, h := range header {
		for i, c := range h.Cells {
			if i == len(names) {
				names = append(names, "")
			}
			names[i] = layout.JoinName(names[i], string(c), separator)
		}
	}
	return names
}

// detectGroups looks for rows above or below the header that name the columns together with it or, if the header is the
// first row for lack of evidence, for such rows below titles. It returns the first and the last of these rows and the names;
// without such rows, both are the header.
func (r *reader) detectGroups(sampled []layout.Row, header int) (first, last int, names []string) {
	for last = max(header, 1); last+1 < len(sampled); last++ {
		isPossible := false
		for first = max(last+1-layout.MaxHeader, 0); first < last; first++ {
			if first > header && (header > 0 || sampled[first-1].Filled() > 1) {
				continue
			}
			isPossible = true
			if names = r.groupNames(sampled[first:last+1], sampled[last+1:]); names != nil {
				return first, last, names
			}
		}
		if !isPossible {
			break
		}
	}
	return header, header, nil
}

// groupNames returns the names that several rows give together, nil if they do not.
func (r *reader) groupNames(header, below []layout.Row) []string {
	n := len(header)
	if n < 2 || n > layout.MaxHeader || header[n-1].Line != header[0].Line+n-1 || !layout.MayGroup(header[n-2], header[n-1]) {
		return nil
	}
	if r.merges == nil {
		r.merges = r.in.readMerges()
	}
	return layout.Groups(header, below, r.merges, r.options.HeaderJoin)
}

// readMerges reads the ranges of merged cells at the start of the sheet. They follow the rows in the file.
func (r *sheetReader) readMerges() []layout.Merge {
	const maxLine = 1_000 // headers are above
	merges := []layout.Merge{}
	r.book.visit(r.name, maxSheet, func(x *part) {
		if string(x.path) == "/worksheet/mergeCells/mergeCell" {
			var m layout.Merge
			from, to, _ := strings.Cut(x.attr("ref"), ":")
			m.Left, m.Top = parseCell(from)
			m.Right, m.Bottom = parseCell(to)
			if m.Top <= maxLine && m.Left >= 0 && len(merges) < rows.MaxColumns {
				merges = append(merges, m)
			}
		}
	})
	return merges
}

// sample reads the rows at the start of a sheet from which its layout is detected. Of the rows down to the header, only those
// that are given are read.
func sample(next func() (layout.Row, error), header []int) (sampled []layout.Row, err error) {
	const maxRows, maxBytes = 50, 1 << 20 // below the given rows
	isAbove := len(header) > 0
	for size := 0; len(sampled) < maxRows+len(header) && size < maxBytes; {
		r, err := next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if isAbove = isAbove && r.Line <= slices.Max(header); !isAbove {
			size += r.Size()
		}
		if !isAbove || slices.Contains(header, r.Line) {
			sampled = append(sampled, r.Clone())
		}
	}
	return sampled, nil
}

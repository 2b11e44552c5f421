package table

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"herbarium/internal/ingest/value"
)

// joinedNames joins the rows from first to end. The row that it returns has what is compared with
// the columns: the last name in each. names is nil unless the rows show that they belong together:
// each of them has nothing but names, more than two have merged cells, and
//
//   - merged cells or at least two groups span several columns, or
//   - the lower one contradicts typed columns, as units, labels, or dates below weeks do, or
//   - the upper one distinguishes names that the lower one repeats,
//
// and the last row differs from the values below it, or its names recur.
func (e *evidence) joinedNames(first, end int) (compared Row, names []string, score float64) {
	header := e.Rows[first:end]
	for i := first; i < end; i++ {
		if i > first && header[i-first].Gap || e.filled[i] == 0 || !e.areNames(i, end) {
			return Row{}, nil, 0
		}
	}
	if len(header) > 2 && len(e.merges()) == 0 {
		return Row{}, nil, 0
	}
	last := header[len(header)-1]
	below := e.below(end, last)
	named := e.filled[end-1]
	isTitle := e.filled[first] < 2 || e.filled[first] < named && named >= e.typicalWidth(below)
	isLabel := end-first == 2 && (!isTitle && e.isLabel(end-1, below) || distinguishes(header[0], last))
	var j joinedHeader
	differs := isLabel || e.contrasts(last, below)
	if mayGroup(header) && (differs || join(header, nil, "").recurs) {
		j = join(header, e.merges(), "")
	}
	if !differs && !j.recurs || !j.isGrouped && !isLabel {
		return Row{}, nil, 0
	}
	if !j.isGrouped && !extendsGroup(header) {
		j.names = nil
		for _, r := range header {
			j.names = JoinNames(j.names, r.Cells, "")
		}
	}
	compared = Row{Line: last.Line, Cells: make([][]byte, len(j.names))}
	for c, name := range j.names {
		compared.Cells[c] = last.cell(c)
		if len(compared.Cells[c]) == 0 {
			compared.Cells[c] = []byte(name)
		}
	}
	score = -labels
	if j.isGrouped {
		score = grouped*float64(j.needed) - labels*float64(end-first-1-j.needed)
	}
	return compared, j.names, score
}

// distinguishes reports whether the lower row repeats names, different names of the upper row are
// above all that are equal, and the upper row lacks a name that the lower one has: above a record,
// all columns have names.
func distinguishes(upper, lower Row) bool {
	above := map[string][]string{}
	for c, name := range lower.Cells {
		if isFilled(name) && !value.IsMissing(name) {
			above[string(name)] = append(above[string(name)], string(upper.cell(c)))
		}
	}
	repeats, lacks := false, false
	for _, names := range above {
		lacks = lacks || slices.Contains(names, "")
		slices.Sort(names)
		if len(names) > 1 && (names[0] == "" || len(slices.Compact(names)) < len(names)) {
			return false
		}
		repeats = repeats || len(names) > 1
	}
	return repeats && lacks
}

// extendsGroup reports whether the names of two rows that were joined belong to groups: the lower
// row lacks names that the upper one has, and each empty cell above a text is right of a group that
// is above a text as well. Dates and numbers are different names without a group.
func extendsGroup(header []Row) bool {
	upper, lower := header[0], header[len(header)-1]
	n, isLacking := 0, false
	for c := range upper.Cells {
		isLacking = isLacking || isFilled(upper.Cells[c]) && len(lower.cell(c)) == 0
	}
	for c := 1; c < len(lower.Cells); c++ {
		if !isFilled(lower.Cells[c]) || len(upper.cell(c)) > 0 {
			continue
		}
		n++
		if lower.kind(c) != value.Text || lower.kind(c-1) != value.Text ||
			!slices.ContainsFunc(upper.Cells[:min(c, len(upper.Cells))], isFilled) {
			return false
		}
	}
	return n > 0 && isLacking && len(header) == 2
}

// mayGroup reports whether each row but the last has a value that may name a group: right of it is
// an empty cell, or the value again, above a value.
func mayGroup(header []Row) bool {
	for i, upper := range header[:len(header)-1] {
		label := slices.IndexFunc(upper.Cells, isFilled)
		isPart := false
		for _, lower := range header[i+1:] {
			for c := label + 1; c < len(lower.Cells); c++ {
				isSame := len(upper.cell(c)) == 0 || bytes.Equal(upper.cell(c), upper.cell(c-1))
				isPart = isPart || isSame && isFilled(lower.Cells[c])
			}
		}
		if !isPart {
			return false
		}
	}
	return true
}

// areNames reports whether a row of a header that ends at an index has nothing but names.
func (e *evidence) areNames(row, end int) bool {
	kinds := value.Text | value.Missing | e.sequenceKinds(e.Rows[row], e.below(end, e.Rows[row]))
	return !slices.ContainsFunc(e.kinds[row], func(k value.Kind) bool { return k&kinds == 0 })
}

// contrasts reports whether a name in a row is above values of another kind, or the row clearly
// differs from the texts below it.
func (e *evidence) contrasts(row Row, below []int) bool {
	for c := range min(len(row.Cells), maxColumns) {
		if typed, _, _ := e.dominantKind(below, c); typed && row.kind(c) == value.Text {
			return true
		}
	}
	return e.headerScore(row, nil, below) >= clearContrast
}

// isLabel reports whether a row below names cannot be a record:
//
//   - it contradicts every typed column in which it has a value, and is either empty in the columns
//     of text, like a row of units, or has different values above at least five records; or
//   - it has no value in the first column, as all records have, and in no column with recurring
//     values one of these.
func (e *evidence) isLabel(row int, below []int) bool {
	const manyRecords = 5
	typed, texts, rows, recurring, known := 0, 0, 0, 0, 0
	distinct, filled := map[string]bool{}, 0
	for c := range e.kinds[row] {
		isTyped, dominant, n := e.dominantKind(below, c)
		got := e.kind(row, c)
		if got == value.Missing {
			continue
		}
		distinct[string(e.Rows[row].cell(c))] = true
		filled++
		switch {
		case isTyped && got == dominant:
			return false
		case isTyped:
			typed++
			rows = max(rows, n)
		case n > 0:
			texts++
			if values := e.values(below, c); 2*len(values) <= n && n >= manyRecords {
				recurring++
				if values[string(e.Rows[row].cell(c))] {
					known++
				}
			}
		}
	}
	_, _, n := e.dominantKind(below, 0)
	switch {
	case texts == 0 && filled < e.typicalWidth(below):
		return typed > 0
	case recurring > 1 && known == 0 && e.kind(row, 0) == value.Missing && n == len(below):
		return true
	}
	return typed > 1 && rows >= manyRecords && len(distinct) == filled
}

// values returns the different values of a column.
func (e *evidence) values(below []int, c int) map[string]bool {
	values := map[string]bool{}
	for _, i := range below {
		if v := e.Rows[i].cell(c); len(v) > 0 {
			values[string(v)] = true
		}
	}
	return values
}

// joinedHeader is the result of joining rows.
type joinedHeader struct {
	names     []string
	needed    int  // rows whose groups are merged, or make names different
	isGrouped bool // merged cells or several groups show that the rows belong together
	recurs    bool // a name occurs in several groups
}

// join joins the rows of a header: the last one names the columns, each of the others groups of
// what is below it.
func join(header []Row, merges []Merge, separator string) (j joinedHeader) {
	lower := header[len(header)-1]
	j.isGrouped = true
	for i := len(header) - 2; i >= 0; i-- {
		upper := header[i]
		width := max(len(upper.Cells), len(lower.Cells))
		starts, isMerged := groupStarts(upper, lower, merges, width)
		if isMerged || repetition(lower, nil) > 0 {
			j.needed++
		}
		cells := make([][]byte, width)
		groups := map[int][]string{}
		for c, start := range starts {
			name := lower.cell(c)
			if start < 0 {
				cells[c] = name
				continue
			}
			groups[start] = append(groups[start], string(name))
			cells[c] = []byte(joinName(string(upper.cell(start)), string(name), separator))
		}
		several := map[string]bool{}   // names of groups of several columns
		groupOf := map[string]string{} // by name
		for start, names := range groups {
			group := string(upper.cell(start))
			if len(names) > 1 {
				several[group] = true
			}
			for _, name := range names {
				other, isKnown := groupOf[name]
				j.recurs = j.recurs || name != "" && isKnown && other != group
				groupOf[name] = group
			}
		}
		firstName := max(0, slices.IndexFunc(lower.Cells, isFilled))
		isLong := isSentence(upper.cell(firstName)) // a title
		isGroup := isMerged && len(several) > 0 || len(several) > 1
		j.isGrouped = j.isGrouped && isGroup && upper.Filled() > 1 && (!isLong || j.recurs)
		if isMerged && upper.Filled() == 1 { // one group beside a column without
			first := slices.IndexFunc(upper.Cells, isFilled)
			j.isGrouped = slices.ContainsFunc(lower.Cells[:min(first, len(lower.Cells))], isFilled) &&
				i == len(header)-2 && len(header) == 2
		}
		lower = Row{Line: lower.Line, Cells: cells}
	}
	for _, c := range lower.Cells {
		j.names = append(j.names, string(c))
	}
	return j
}

// groupStarts returns the column in which the group of each column begins, -1 if it has none. A
// group that is not merged extends over the empty cells right of its name. A name that is repeated
// in each cell is like merged cells.
func groupStarts(upper, lower Row, merges []Merge, width int) (starts []int, isMerged bool) {
	starts = make([]int, width)
	for i := range starts {
		starts[i] = -1
		if len(upper.cell(i)) > 0 {
			starts[i] = i
		}
	}
	for _, m := range merges {
		if m.Top == upper.Line && m.Bottom < lower.Line && m.Right > m.Left && len(upper.cell(m.Left)) > 0 {
			isMerged = true
			for i := m.Left; i <= min(m.Right, width-1); i++ {
				starts[i] = m.Left
			}
		}
	}
	isRepeated := false
	for i := 1; i < width; i++ {
		isNamed := len(lower.cell(i)) > 0
		isOther := isNamed && !bytes.Equal(lower.cell(i), lower.cell(i-1))
		switch {
		case starts[i] == i && bytes.Equal(upper.cell(i), upper.cell(i-1)) && isOther:
			starts[i], isRepeated = starts[i-1], true
		case !isMerged && starts[i] < 0 && isNamed:
			starts[i] = starts[i-1]
		}
	}
	return starts, isMerged || isRepeated
}

// JoinNames appends the values of a row to the names that rows above give. An empty separator is a
// blank.
func JoinNames(names []string, row [][]byte, separator string) []string {
	for i, cell := range row {
		if i == len(names) {
			names = append(names, "")
		}
		names[i] = joinName(names[i], string(bytes.TrimSpace(cell)), separator)
	}
	return names
}

func joinName(above, name, separator string) string {
	switch {
	case above == "" || above == name || strings.HasPrefix(name, above+" "):
		return name
	case name == "":
		return above
	}
	return above + cmp.Or(separator, " ") + name
}

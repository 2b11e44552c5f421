package layout

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"herbarium/internal/ingest/rows"
)

// Merge is a range of merged cells: lines from 1, columns from 0.
type Merge struct{ Top, Left, Bottom, Right int }

// sampledBelow is the number of rows that names are compared with. Headers of further tables may follow.
const sampledBelow = 10

// maxHeader is the number of rows that may name the columns together.
const maxHeader = 3

// Groups returns the names of columns that two or three rows give together, such as "Boys 2019": the last one names the
// columns, each of the others groups of what is below it. It returns nil unless that is beyond doubt:
//
//   - Every value of the last row is a name, and every column of a group has one. Columns outside of groups may have none.
//   - Every other row has a group of several columns, the first of three rows two of them: it might be a title.
//   - Merged cells show the groups, or each group has the same columns, or the groups cover all columns: the first row has few
//     names, from the first column on, and the second has names only, most of them above numbers or dates.
//   - A name is above numbers or dates, or recurs in another group. Unless names recur, a sentence above the first name is a title.
//
// The two rows of a survey need no further evidence: questions, and the options or "Response" below each.
func Groups(header, below []Row, merges func() []Merge, separator string) []string {
	last := len(header) - 1
	joined := header[last]
	if last == 1 && isSurvey(joined, below) {
		joined = joined.Clone()
		for i, c := range joined.Cells {
			if isResponse(c) {
				joined.Cells[i] = nil
			}
		}
		joined.Cells, _, _ = joinRows(header[0], joined, nil, separator)
	} else {
		below = slices.Clone(withoutUnits(below))
		below = slices.DeleteFunc(below[:min(len(below), sampledBelow)], func(r Row) bool { return r.isOneOf(header) })
		for i, required := last-1, 1; i >= 0; i, required = i-1, 2 {
			several := 0
			if joined.Cells, several = joinGroups(header[i], joined, below, merges, separator); several < required {
				return nil
			}
		}
	}
	var names []string
	for _, name := range joined.Cells[:joined.Width()] {
		names = append(names, string(name))
	}
	return names
}

// joinGroups joins names with those of the groups above them and counts the groups of several columns: 0 unless they are evident.
func joinGroups(upper, lower Row, below []Row, merges func() []Merge, separator string) (names [][]byte, several int) {
	if !mayGroup(upper, lower) {
		return nil, 0
	}
	names, groups, isMerged := joinRows(upper, lower, merges(), separator)
	contrasts := 0 // names above numbers or dates
	for i := range names {
		if k, n := ColumnKind(below, i); KindOf(lower.cell(i)) == Text && n > 0 && k != Text {
			contrasts++
		}
	}
	var named, first []string // the different names in each group
	isAlike := true           // groups of several columns have the same ones
	for _, group := range groups {
		different := slices.Compact(slices.Sorted(slices.Values(group)))
		named = append(named, slices.DeleteFunc(different, func(name string) bool { return name == "" })...)
		if len(group) < 2 {
			continue
		}
		if several++; several == 1 {
			first = group
		}
		isAlike = isAlike && slices.Equal(first, group)
	}
	recurs := len(slices.Compact(slices.Sorted(slices.Values(named)))) < len(named)
	if first := slices.IndexFunc(lower.Cells, isFilled); !recurs && isSentence(upper.cell(first)) {
		return nil, 0 // a title
	}
	covers := len(upper.cell(0)) > 0 && upper.Filled() <= len(names)/2 && lower.Filled() == len(names) && contrasts > len(names)/2
	if !isMerged && !(several > 1 && (isAlike && recurs || covers)) || contrasts == 0 && !recurs {
		return nil, 0
	}
	return names, several
}

// joinRows returns the names in a row with those of their groups in the row above it, nil if some value cannot be a name. A
// column without a name in both rows has an empty one. It also returns the names in each group, by the column in which it
// begins, and whether cells are merged.
func joinRows(upper, lower Row, merges []Merge, separator string) (names [][]byte, groups map[int][]string, isMerged bool) {
	width := max(len(upper.Cells), len(lower.Cells))
	starts, isMerged := groupStarts(upper, lower, merges, width)
	groups = map[int][]string{}
	for i, start := range starts {
		name := lower.cell(i)
		if len(name) == 0 && start >= 0 && start != i || len(name) > 0 && !isName(name) || start >= 0 && !isName(upper.cell(start)) {
			return nil, nil, false
		}
		if start >= 0 {
			groups[start] = append(groups[start], string(name))
			name = []byte(joinName(string(upper.cell(start)), string(name), separator))
		}
		names = append(names, name)
	}
	return names, groups, isMerged
}

// groupStarts returns the column in which the group of each column begins, -1 if it has none. A group that is not merged
// extends over the empty cells right of its name.
func groupStarts(upper, lower Row, merges []Merge, width int) (starts []int, isMerged bool) {
	starts = make([]int, width)
	for i := range starts {
		if starts[i] = -1; len(upper.cell(i)) > 0 {
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
	for i := 1; i < width && !isMerged; i++ {
		if starts[i] < 0 && len(lower.cell(i)) > 0 {
			starts[i] = starts[i-1]
		}
	}
	return starts, isMerged
}

// mayGroup reports whether a row has an empty cell right of a value and above a value, so that the value may name a group.
// A single value from the first name on is a title.
func mayGroup(upper, lower Row) bool {
	label := slices.IndexFunc(upper.Cells, isFilled)
	if label < 0 || upper.Filled() == 1 && !slices.ContainsFunc(lower.Cells[:min(label, len(lower.Cells))], isFilled) {
		return false
	}
	for i := label + 1; i < len(lower.Cells); i++ {
		if len(upper.cell(i)) == 0 && isFilled(lower.Cells[i]) {
			return true
		}
	}
	return false
}

func isFilled(cell []byte) bool { return len(bytes.TrimSpace(cell)) > 0 }

// isSurvey reports whether a row has the labels below the questions of a survey: several of them, but no record, are "Response".
func isSurvey(labels Row, below []Row) bool {
	n := 0
	for i, c := range labels.Cells {
		if !isResponse(c) {
			continue
		}
		if n++; slices.ContainsFunc(below, func(r Row) bool { return isResponse(r.cell(i)) }) {
			return false
		}
	}
	return n > 1 && len(below) > 1
}

func isResponse(cell []byte) bool {
	return string(cell) == "Response" || string(cell) == "Open-Ended Response"
}

// JoinNames appends the values of a row to the names that rows above give. An empty separator is a blank.
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
	if above == "" || name == "" {
		return above + name
	}
	return above + cmp.Or(separator, " ") + name
}

// GroupNote describes columns that several rows name together. unit is what the format calls a row.
func GroupNote(unit string, header []Row, names []string) string {
	last := header[len(header)-1]
	others := rows.JoinSome(header[:len(header)-1], func(r Row) string { return strconv.Itoa(r.Line) })
	example := 0
	for example+1 < len(names) {
		name := last.cell(example)
		if len(name) > 0 && !isResponse(name) && names[example] != string(name) {
			break
		}
		example++
	}
	return fmt.Sprintf("%ss %s and %d name the columns together, such as %q; use --header %d if only the last one does",
		unit, others, last.Line, rows.Clip(names[example]), last.Line)
}

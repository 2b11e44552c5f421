package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/value"
	"herbarium/internal/text"
)

// view applies the settings of a source to its rows: fields expose columns, conditions exclude
// rows, and values that are declared missing are emptied. It profiles the records that remain.
// Every cell that it removes is counted, so that the certificate can prove that nothing else was
// removed.
type view struct {
	profiler *value.Profiler
	columns  []string // unique names; nil: not resolved yet, every column is exposed
	fields   []exposedField
	notes    []string

	hidden  []hiddenColumn
	include []condition
	exclude []exclusion
	missing []map[string]bool // values by column; nil: the settings remove nothing
	record  [][]byte
	row     int // of the source
	// What was kept and removed, with the numbers of source rows, and what was kept with the
	// numbers of records. Empty if the settings remove nothing.
	kept, removed, listed       []herb.ColumnCells
	unnamed                     map[int]bool // columns without a name and without values, which are left out
	excludedCells, missingCells int
}

func newView() *view { return &view{profiler: value.NewProfiler()} }

type exposedField struct {
	*FieldSetting
	column  int // may exceed the columns of a table without records, in which nothing says what the columns are
	profile *value.Field
}

// hiddenColumn is a column that no field exposes.
type hiddenColumn struct {
	column  int
	samples herb.ValueSamples
}

type condition struct {
	column int
	values map[string]bool
}

// exclusion is a condition that excludes rows, with the number of rows by value.
type exclusion struct {
	column int
	values map[string]*int
}

// resolve assigns the columns of a source to its settings. A field whose type is declared is
// checked from then on.
func (v *view) resolve(src Source, columns []string, keyed bool) error {
	v.columns, v.notes = columns, slices.Clone(src.Notes)
	if len(src.Fields) == 0 {
		src.Fields = make([]FieldSetting, len(columns))
		for i, name := range columns {
			src.Fields[i] = FieldSetting{Name: name, From: name}
		}
	}
	pick, added, notes, err := match(src, columns, keyed)
	if err != nil {
		return err
	}
	v.notes = append(v.notes, notes...)
	if len(added) > 0 {
		src.Fields = slices.Clone(src.Fields)
	}
	for _, column := range added {
		src.Fields, pick = append(src.Fields, FieldSetting{Name: columns[column], From: columns[column]}),
			append(pick, column)
	}
	v.fields = make([]exposedField, 0, len(src.Fields))
	for k := range src.Fields {
		f, column := &src.Fields[k], pick[k]
		if column < 0 && len(columns) > 0 {
			continue
		} else if column < 0 {
			column = k
		}
		p, err := v.profiler.Field(column, f.Schema)
		if err != nil {
			return herb.AtField(f.Name, err)
		}
		v.fields = append(v.fields, exposedField{f, column, p})
	}
	exposed := make([]bool, len(columns))
	for _, f := range v.fields {
		if f.column < len(columns) {
			exposed[f.column] = true
		}
	}
	for i := range columns {
		if !exposed[i] {
			v.hidden = append(v.hidden, hiddenColumn{column: i})
		}
	}
	if !src.Narrows() || len(columns) == 0 {
		return nil
	}
	v.missing = slices.Repeat([]map[string]bool{setOf(src.Missing)}, len(columns))
	cells := make([]herb.ColumnCells, 3*len(columns))
	v.kept, v.removed, v.listed = cells[:len(columns)], cells[len(columns):2*len(columns)], cells[2*len(columns):]
	for _, f := range v.fields {
		if f.Missing != nil {
			v.missing[f.column] = setOf(f.Missing)
		}
	}
	for _, c := range src.Include {
		at, err := v.conditionColumn("include", c)
		if err != nil {
			return err
		}
		v.include = append(v.include, condition{at, setOf(c.Values)})
	}
	for _, c := range src.Exclude {
		at, err := v.conditionColumn("exclude", c)
		if err != nil {
			return err
		}
		counts := make(map[string]*int, len(c.Values))
		for _, value := range c.Values {
			counts[value] = new(int)
		}
		v.exclude = append(v.exclude, exclusion{at, counts})
	}
	return nil
}

// conditionColumn returns the column that a condition names: by its own name, or by that of its
// field.
func (v *view) conditionColumn(setting string, c Condition) (int, error) {
	at := slices.Index(v.columns, c.Column)
	for _, f := range v.fields {
		if at < 0 && f.Name == c.Column {
			at = f.column
		}
	}
	if at < 0 {
		return at, herb.At(setting, noSuch("column", c.Column, v.columns))
	}
	return at, nil
}

func setOf(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	return set
}

func (v *view) add(cells [][]byte, where func() string) {
	record, ok := v.narrow(v.record[:0], cells)
	for _, x := range v.exclude {
		value := valueAt(cells, x.column)
		if n := x.values[string(value)]; n != nil {
			*n++
		} else if n := x.values[""]; n != nil && v.missing[x.column][string(value)] {
			*n++
		}
	}
	for i := range v.hidden {
		if h := &v.hidden[i]; h.column < len(cells) {
			h.samples.Add(cells[h.column])
		}
	}
	if v.missing != nil {
		for i, c := range cells {
			switch {
			case len(c) == 0:
			case !ok:
				v.excludedCells++
				v.removed[i].Add(v.row, c)
			case len(record[i]) == 0:
				v.missingCells++
				v.removed[i].Add(v.row, c)
			default:
				v.kept[i].Add(v.row, record[i])
				v.listed[i].Add(v.profiler.Rows(), record[i])
			}
		}
		v.record = record
	}
	v.row++
	if ok {
		v.profiler.Observe(record, where)
	}
}

// narrow returns what the settings leave of a row, in buf if they remove anything. ok is false if
// the row is excluded. A value that is declared missing meets conditions as itself and as empty.
func (v *view) narrow(buf, cells [][]byte) (record [][]byte, ok bool) {
	if v.missing == nil {
		return cells, true
	}
	for _, c := range v.include {
		value := valueAt(cells, c.column)
		if !c.values[string(value)] && !(v.missing[c.column][string(value)] && c.values[""]) {
			return buf, false
		}
	}
	for _, c := range v.exclude {
		value := valueAt(cells, c.column)
		if c.values[string(value)] != nil || v.missing[c.column][string(value)] && c.values[""] != nil {
			return buf, false
		}
	}
	for i, c := range cells {
		if len(c) > 0 && v.missing[i][string(c)] {
			c = nil
		}
		buf = append(buf, c)
	}
	return buf, true
}

// valueAt returns a cell of a row, whose last cells may be left out.
func valueAt(cells [][]byte, column int) []byte {
	if column < len(cells) {
		return cells[column]
	}
	return nil
}

// maxExclusions is the number of values of Exclude that a report lists.
const maxExclusions = 50

// exclusions returns the number of rows that each value of Exclude has excluded. Of many values, it
// returns the first ones, and a note has the number of the others.
func (v *view) exclusions(src Source) (all []herb.RowValue) {
	for i, x := range v.exclude {
		for _, value := range src.Exclude[i].Values {
			all = append(all, herb.RowValue{Column: v.columns[x.column], Value: value, Rows: *x.values[value]})
		}
	}
	if more := len(all) - maxExclusions; more > 0 {
		all = all[:maxExclusions]
		v.notes = append(v.notes, fmt.Sprintf("exclude has %s that %s not listed here",
			herb.Plural(more, "more value", "more values"), map[bool]string{true: "is", false: "are"}[more == 1]))
	}
	return all
}

// certify compares the records with what the formats yielded: only cells that the settings exclude
// may be missing.
func (v *view) certify(source []herb.ColumnCells) error {
	if v.missing == nil {
		v.listed = source
		return nil
	}
	for i, c := range source {
		if v.kept[i].Plus(v.removed[i]) != c {
			return fmt.Errorf("applying include, exclude and missing values changed column %d", i+1)
		}
	}
	return nil
}

// leaveOutUnnamed leaves out the columns that have neither a name nor a value, such as the one
// after a delimiter at the end of each line, unless the table has no others.
func (v *view) leaveOutUnnamed(p *pass) {
	if len(p.src.Fields) > 0 || p.format.Keyed {
		return
	}
	unnamed, numbers := map[int]bool{}, []int(nil)
	for i, c := range p.columns {
		if c.Name == "" && p.raw[i].Filled == 0 {
			unnamed[i], numbers = true, append(numbers, i+1)
		}
	}
	if len(unnamed) == 0 || len(unnamed) == len(p.columns) {
		return
	}
	v.unnamed = unnamed
	v.fields = slices.DeleteFunc(v.fields, func(f exposedField) bool { return unnamed[f.column] })
	v.notes = append(v.notes, fmt.Sprintf("left out: %s without a name and without values: %s",
		herb.Plural(len(numbers), "column", "columns"), rows.JoinSome(numbers, strconv.Itoa)))
}

// describe returns the fields and the reports of their columns, after the last row. columns are
// those of the files, lists the positions of the lists that are written with commas. The error
// names the first values that do not fit their declared types, of all fields.
func (v *view) describe(columns []rows.Column, lists []int) (fields []herb.Field, reports []herb.ColumnReport,
	err error) {
	var wrong misfits
	fields, reports = make([]herb.Field, 0, len(v.fields)), make([]herb.ColumnReport, 0, len(v.fields))
	for i, c := range columns {
		if c.Numbers {
			v.profiler.SetTyped(i)
		}
		if c.Type == herb.TypeList {
			v.profiler.SetList(i, !slices.Contains(lists, i))
		}
	}
	for _, s := range v.fields {
		name, stated, cells := s.Column(), rows.Column{}, herb.ColumnCells{}
		if s.column < len(v.columns) {
			name, stated, cells = v.columns[s.column], columns[s.column], v.listed[s.column]
		}
		f, report, err := s.profile.Result(name, stated.Type)
		if err != nil {
			wrong.add(s, err)
			continue
		}
		f.Name, f.Title, f.Description, f.Weight = s.Name, s.Title, s.Description, s.Weight
		f.Searchable, f.Filterable, f.Sortable = *cmp.Or(s.Searchable, &f.Searchable), *cmp.Or(s.Filterable, new(true)),
			*cmp.Or(s.Sortable, new(true))
		if f.Weight > 0 && !f.Searchable {
			v.notes = append(v.notes,
				fmt.Sprintf("field %q has a weight that has no effect, because it is not searchable", f.Name))
		}
		f.Categories, f.Ordered = s.Categories, s.Ordered
		f.Searchable = f.Searchable || s.Searchable == nil && f.HasCategoryLabels()
		if f.Ordered && !isSorted(&f) {
			v.notes = append(v.notes, fmt.Sprintf("field %q: sort compares the values, whose order differs from that of "+
				"the categories (categoriesOrdered)", f.Name))
		}
		report.Field, report.Column, report.Source = f.Name, cmp.Or(s.Origin, name), cells
		fields, reports = append(fields, f), append(reports, report)
	}
	return fields, reports, wrong.err()
}

// isSorted reports whether the categories of a field are in the order in which their values sort.
func isSorted(f *herb.Field) bool {
	key := func(c herb.Category) string {
		canonical, _ := text.Bound(f, c.Value)
		key, _ := text.Key(f.Type, canonical)
		return key
	}
	return slices.IsSortedFunc(f.Categories, func(a, b herb.Category) int { return strings.Compare(key(a), key(b)) })
}

// misfits collects errors of fields whose values do not fit their declared types.
type misfits struct {
	first  error
	others []string // values, after the first one
}

func (m *misfits) add(f exposedField, err error) {
	named := f.profile.Misfits()
	if m.first == nil {
		m.first, named = herb.AtField(f.Name, err), named[min(1, len(named)):]
	}
	for _, value := range named {
		m.others = append(m.others, fmt.Sprintf("%s in field %q", value, f.Name))
	}
}

// err returns the first error, with the other values.
func (m *misfits) err() error {
	if len(m.others) == 0 {
		return m.first
	}
	shown, suffix := m.others, ""
	if most := value.MaxMisfits - 1; len(shown) >= most {
		shown, suffix = shown[:most], ", and perhaps more"
	}
	all, ok := errors.AsType[*herb.Error](m.first)
	if !ok {
		return m.first
	}
	complete := *all
	complete.Message += "; these do not fit either: " + strings.Join(shown, ", ") + suffix
	return &complete
}

// account counts the non-empty cells of the source by what became of them, and returns the columns
// that no field exposes.
func (v *view) account(source []herb.ColumnCells) (a herb.SourceCells, hidden []string) {
	a.Excluded, a.Missing = v.excludedCells, v.missingCells
	fields := map[int]int{} // number of fields that expose each column
	for _, f := range v.fields {
		fields[f.column]++
	}
	for i, c := range source {
		a.Total += c.Filled
		if n := fields[i]; n > 0 {
			a.Repeated += (n - 1) * v.listed[i].Filled
		} else if !v.unnamed[i] {
			a.Hidden += v.listed[i].Filled
			hidden = append(hidden, v.columns[i])
		}
	}
	return a, hidden
}

// hiding returns what the settings of a source hide of it.
func (v *view) hiding(src Source) *herb.Hiding {
	h := &herb.Hiding{}
	const fewColumns, fewSamples = 1_000, 16 // so that a version with many hidden columns stays small
	for _, c := range v.hidden {
		if len(v.hidden) > fewColumns {
			c.samples = c.samples[:min(len(c.samples), fewSamples)]
		}
		h.Columns = append(h.Columns, herb.HiddenColumn{Name: v.columns[c.column], Samples: c.samples})
	}
	for _, c := range slices.Concat(src.Include, src.Included) {
		h.Rows = append(h.Rows, herb.RowRule{Column: c.Column, Values: c.Values})
	}
	for _, c := range slices.Concat(src.Exclude, src.Excluded) {
		h.Rows = append(h.Rows, herb.RowRule{Column: c.Column, Values: c.Values, Exclude: true})
	}
	if h.IsZero() {
		return nil
	}
	return h
}

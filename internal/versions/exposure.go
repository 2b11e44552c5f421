package versions

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// Exposures returns what becomes public when next replaces live. shared is the result of
// FindHiddenValues, or nil. There are none if there is no live version.
func Exposures(live, next herb.Dataset, shared HiddenFields) []Change {
	if live.Version == "" {
		return nil
	}
	changes, _ := exposures(live, next, shared)
	return changes
}

// HiddenColumns returns the columns that a version hides, also those of earlier source files. ok is
// false if not all of them are known.
func HiddenColumns(d herb.Dataset) (names []string, ok bool) {
	for _, c := range hidingOf(d).Columns {
		names = append(names, c.Name)
	}
	return names, d.Report != nil && len(names) < maxHiddenColumns
}

// exposures returns what becomes public when next replaces live, and what stays hidden of what live
// hides.
func exposures(live, next herb.Dataset, shared HiddenFields) (changes []Change, still herb.Hiding) {
	add := func(kind ChangeKind, field, format string, args ...any) {
		changes = append(changes, Change{Kind: kind, Field: field, Breaking: true, Exposure: true,
			Message: fmt.Sprintf(format, args...)})
	}
	if live.Access.NeedsKey() && !next.Access.NeedsKey() {
		add(AccessChanged, "", "the live version requires a key and this one does not: everyone could read its records")
	}
	if isSourcePublic(next) && !isSourcePublic(live) {
		add(SourceExposed, "", "the source file becomes public: everyone who may read the records could download it, "+
			"with all columns and rows")
	}
	hidden := hidingOf(live)
	exposed := exposedColumns(next)
	for _, c := range hidden.Columns {
		fields := slices.Concat(exposed[herb.FoldColumn(c.Name)], shared[c.Name])
		for _, f := range exposed[herb.FoldColumn(c.Name)] {
			add(ColumnExposed, f, "column %q, which the live version hides, becomes public as field %q", c.Name, f)
		}
		for _, f := range shared[c.Name] {
			if !slices.Contains(exposed[herb.FoldColumn(c.Name)], f) {
				add(ColumnExposed, f, "field %q has values of column %q, which the live version hides", f, c.Name)
			}
		}
		if len(fields) == 0 {
			still.Columns = append(still.Columns, c)
		}
	}
	exposeRefilled(live, next, changes, add)
	own := hidingOf(next)
	for _, rule := range hidden.Rows {
		if !slices.ContainsFunc(own.Rows, rule.IsMetBy) {
			add(RowsExposed, "", "rows become public that the live version leaves out by the values of column %q",
				rule.Column)
		}
	}
	return changes, still
}

// exposeRefilled adds the fields that are filled from another column than in the live version,
// unless that column was public already or is among the changes.
func exposeRefilled(live, next herb.Dataset, found []Change,
	add func(kind ChangeKind, field, format string, args ...any)) {
	reported := map[string]bool{}
	for _, c := range found {
		reported[c.Field] = true
	}
	wasPublic, origins := exposedColumns(live), columnsOfFields(live)
	for _, c := range columnReports(next) {
		was, known := origins[c.Field]
		isSame := !known || was == "" || herb.FoldColumn(c.Column) == herb.FoldColumn(was)
		if unnamedColumn.MatchString(c.Column) { // its position decides, which matters if other columns are hidden
			isSame = isSame || len(hidingOf(live).Columns) == 0
		} else { // a name is more reliable than the position before
			isSame = isSame || unnamedColumn.MatchString(was)
		}
		if isSame || reported[c.Field] || wasPublic[herb.FoldColumn(c.Column)] != nil {
			continue
		}
		add(FieldRefilled, c.Field, "field %q is filled from column %q instead of %q", c.Field, c.Column, was)
	}
}

// columnsOfFields returns the columns that the fields of a version expose.
func columnsOfFields(d herb.Dataset) map[string]string {
	columns := map[string]string{}
	for _, c := range columnReports(d) {
		columns[c.Field] = c.Column
	}
	return columns
}

// unnamedColumn matches the names that columns without one get.
var unnamedColumn = regexp.MustCompile(`^column_[0-9]+$`)

func isSourcePublic(d herb.Dataset) bool { return d.Settings != nil && d.Settings.Public }

func columnReports(d herb.Dataset) []herb.ColumnReport {
	if d.Report == nil || len(d.Report.Columns) != len(d.Fields) {
		return nil
	}
	return d.Report.Columns
}

// exposedColumns returns the fields of a version by the columns that they expose.
func exposedColumns(d herb.Dataset) map[string][]string {
	fields := map[string][]string{}
	for _, c := range columnReports(d) {
		if c.Column != "" {
			fields[herb.FoldColumn(c.Column)] = append(fields[herb.FoldColumn(c.Column)], c.Field)
		}
	}
	return fields
}

// hidingOf returns what a version hides. A version of an earlier release has it in its report and
// in its descriptor.
func hidingOf(d herb.Dataset) *herb.Hiding {
	if d.Settings != nil && d.Settings.Hidden != nil {
		return d.Settings.Hidden
	}
	h := &herb.Hiding{}
	if d.Report != nil {
		for _, name := range d.Report.Hidden {
			h.Columns = append(h.Columns, herb.HiddenColumn{Name: name})
		}
	}
	if d.Settings == nil || d.Settings.Descriptor == nil {
		return h
	}
	var descriptor struct {
		Resources []struct {
			Herbarium struct {
				Include map[string]any `json:"include"`
			} `json:"herbarium"`
		} `json:"resources"`
	}
	if json.Unmarshal(d.Settings.Descriptor, &descriptor) != nil {
		return h
	}
	for _, r := range descriptor.Resources {
		for column, values := range r.Herbarium.Include {
			list, ok := values.([]any)
			if !ok {
				list = []any{values}
			}
			rule := herb.RowRule{Column: column}
			for _, v := range list {
				rule.Values = append(rule.Values, textOf(v))
			}
			h.Rows = append(h.Rows, rule)
		}
	}
	return h
}

// textOf returns a value of a descriptor as the text of a cell.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// Limits of what a version remembers: hidden columns, and source files of earlier versions.
const (
	maxHiddenColumns = 20_000
	maxOrigins       = 1_000
)

// rememberHidden makes next remember what stays hidden of what the live version hides, although its
// own source may not have it.
func rememberHidden(live herb.Dataset, next *herb.Dataset, shared HiddenFields) {
	if live.Version == "" {
		return
	}
	if next.Access.NeedsKey() { // files of earlier versions have protected records, too
		earlier := slices.DeleteFunc(slices.Clone(live.Origins),
			func(o herb.Origin) bool { return slices.Contains(next.Origins, o) })
		next.Origins = slices.Concat(next.Origins, earlier[:min(len(earlier), max(0, maxOrigins-len(next.Origins)))])
	}
	_, still := exposures(live, *next, shared)
	own := hidingOf(*next)
	all := *own
	all.Columns = slices.Clone(own.Columns)
	position := make(map[string]int, len(all.Columns))
	for i, c := range all.Columns {
		position[c.Name] = i
	}
	for _, c := range still.Columns {
		switch i, known := position[c.Name]; {
		case known && len(all.Columns[i].Samples) == 0:
			all.Columns[i] = c // the column is empty now
		case !known && len(all.Columns) < maxHiddenColumns:
			all.Columns = append(all.Columns, c)
		}
	}
	if all.IsZero() {
		return
	}
	settings := herb.Settings{}
	if next.Settings != nil {
		settings = *next.Settings
	}
	settings.Hidden = &all
	next.Settings = &settings
}

// HiddenFields has the fields of a version that have values of hidden columns, by the names of the
// columns.
type HiddenFields map[string][]string

// FindHiddenValues searches the records of next for values of columns that the live version hides:
// a column may come back under another name, or in the place of another one. A field has the values
// of a column if at least half of its samples occur in the field, or fewer if settings exclude rows
// of next. This is not evidence if the field
// still has the values that it has in the live version, such as two columns of country codes, or if
// the column has one or two values only, such as yes and no, and is still hidden.
func FindHiddenValues(
	ctx context.Context, acquire func(context.Context, herb.Ref, string) (library.View, error), live, next herb.Dataset,
	records iter.Seq2[herb.Record, error],
) (HiddenFields, error) {
	return findHiddenValues(ctx, acquire, live, next, records, hasHalf)
}

// RejectChanges fails if records that change the live version, described by changes, have values of
// columns that it hides, unless the consent is given. The merged version alone does not show this:
// it has the values that each field had before.
func RejectChanges(
	ctx context.Context, acquire func(context.Context, herb.Ref, string) (library.View, error), live,
	changes herb.Dataset, records iter.Seq2[herb.Record, error],
	given ...herb.Consent,
) error {
	if slices.Contains(given, herb.ConsentExposure) {
		return nil
	}
	never := func(map[uint32]bool, []uint32) bool { return false }
	shared, err := findHiddenValues(ctx, acquire, live, changes, records, never)
	if err != nil || len(shared) == 0 {
		return err
	}
	changes.Access, changes.Settings = live.Access, live.Settings // only the values matter
	changes.Report = nil
	return Reject(Exposures(live, changes, shared))
}

// findHiddenValues is FindHiddenValues; isKnown reports whether a field still has the values of the
// live version. Values that the field has in the live version are no evidence.
func findHiddenValues(
	ctx context.Context, acquire func(context.Context, herb.Ref, string) (library.View, error), live, next herb.Dataset,
	records iter.Seq2[herb.Record, error],
	isKnown func(seen map[uint32]bool, values []uint32) bool,
) (HiddenFields, error) {
	if live.Version == "" {
		return nil, nil
	}
	var columns []herb.HiddenColumn
	for _, c := range hidingOf(live).Columns {
		if len(c.Samples) > 2 || len(c.Samples) > 0 && !isHidden(next, c.Name) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 || len(next.Fields) == 0 {
		return nil, nil
	}
	isSame := sameColumns(live, next)
	known, isRead := knownValues(ctx, acquire, live, isSame)
	wanted := map[uint32]bool{}
	for _, c := range columns {
		for _, h := range c.Samples {
			wanted[h] = true
		}
	}
	for _, hashes := range known {
		for _, h := range hashes {
			wanted[h] = true
		}
	}
	seen := make([]map[uint32]bool, len(next.Fields))
	for i := range seen {
		seen[i] = map[uint32]bool{}
	}
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		for i, v := range r {
			if v == "" || i >= len(seen) {
				continue
			}
			if h := herb.HashValue(v); wanted[h] {
				seen[i][h] = true
			}
		}
	}
	found := HiddenFields{}
	for _, c := range columns {
		for i, f := range next.Fields {
			if isSame[f.Name] && !isRead || isKnown(seen[i], known[f.Name]) {
				continue
			}
			isNew := func(h uint32) bool { return seen[i][h] && !slices.Contains(known[f.Name], h) }
			if n := countFunc(c.Samples, isNew); n > 0 && 2*float64(n) >= listedShare(next)*float64(len(c.Samples)) {
				found[c.Name] = append(found[c.Name], f.Name)
			}
		}
	}
	return found, nil
}

// listedShare returns the share of the rows of its source that a version lists.
func listedShare(d herb.Dataset) float64 {
	if d.Report == nil || d.Report.Rows == 0 {
		return 1
	}
	return 1 - float64(d.Report.Excluded)/float64(d.Report.Rows)
}

// isHidden reports whether a version hides a column of its own source.
func isHidden(d herb.Dataset, column string) bool {
	return d.Report != nil && slices.Contains(d.Report.Hidden, column)
}

// hasHalf reports whether at least half of some values were seen, and one.
func hasHalf(seen map[uint32]bool, values []uint32) bool {
	n := countFunc(values, func(h uint32) bool { return seen[h] })
	return n > 0 && 2*n >= len(values)
}

func countFunc(values []uint32, f func(uint32) bool) (n int) {
	for _, h := range values {
		if f(h) {
			n++
		}
	}
	return n
}

// knownValues returns hashes of some values of fields of the live version. ok is false if it cannot
// be read.
func knownValues(
	ctx context.Context, acquire func(context.Context, herb.Ref, string) (library.View, error), live herb.Dataset,
	fields map[string]bool,
) (known map[string][]uint32, ok bool) {
	known = map[string][]uint32{}
	view, err := acquire(ctx, live.Ref, live.Version)
	if err != nil {
		return known, false
	}
	defer view.Release()
	if view.Reader == nil {
		return known, false
	}
	const most = 64 // records
	n := view.Reader.Len()
	for k := range min(n, most) {
		r, err := view.Reader.Record(k * max(n/most, 1))
		if err != nil {
			return known, false
		}
		for i, f := range live.Fields {
			if h := herb.HashValue(r[i]); r[i] != "" && fields[f.Name] && !slices.Contains(known[f.Name], h) {
				known[f.Name] = append(known[f.Name], h)
			}
		}
	}
	return known, true
}

// sameColumns returns the fields that two versions fill from columns of the same name.
func sameColumns(live, next herb.Dataset) map[string]bool {
	same, columns := map[string]bool{}, columnsOfFields(live)
	for _, c := range columnReports(next) {
		if column, known := columns[c.Field]; known && herb.FoldColumn(column) == herb.FoldColumn(c.Column) {
			same[c.Field] = true
		}
	}
	return same
}

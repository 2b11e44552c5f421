package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/segment"
)

// Summary describes the changes that a request selects. It is the first line of an export and the
// metadata of a page.
type Summary struct {
	From      string   `json:"from"`
	To        string   `json:"to"`
	Key       []string `json:"key"` // fields that identify records; null if records have no identity
	Added     int      `json:"added"`
	Removed   int      `json:"removed"`
	Changed   int      `json:"changed"`
	Unchanged int      `json:"unchanged"` // of the records of To that match
	Fields    Fields   `json:"fields"`
}

// Fields are the fields that differ between two versions.
type Fields struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Retyped []string `json:"retyped"`
}

// FieldsOf returns the fields that differ between two versions.
func FieldsOf(from, to []herb.Field) Fields {
	f := Fields{Added: []string{}, Removed: []string{}, Retyped: []string{}}
	types := make(map[string]herb.Type, len(from))
	for _, field := range from {
		types[field.Name] = field.Type
	}
	for _, field := range to {
		was, known := types[field.Name]
		delete(types, field.Name)
		if !known {
			f.Added = append(f.Added, field.Name)
		} else if was != field.Type {
			f.Retyped = append(f.Retyped, field.Name)
		}
	}
	for _, field := range from {
		if _, isRemoved := types[field.Name]; isRemoved {
			f.Removed = append(f.Removed, field.Name)
		}
	}
	return f
}

// Total returns the number of selected changes.
func (s Summary) Total() int { return s.Added + s.Removed + s.Changed }

// Changes are the changes between two versions that a request selects.
type Changes struct {
	Summary
	comparison *segment.Comparison
	request    *query.ChangesRequest
	from, to   side
	matched    [2]*segment.RecordSet // of from and to; nil: all records match
	earlier    []int                 // by field of to, its position in from; negative: it is new
	isSelected []bool                // by field of to
}

// side is one of the versions.
type side struct {
	library.View
	shown   []int // positions of the fields of an added or removed record; nil: all
	record  []byte
	members [][]byte
}

// show selects the fields of an added or removed record: those of the key, which identify it, and
// the selected ones.
func (s *side) show(key []string, r *query.Request) {
	if r == nil || r.Selected == nil {
		return
	}
	s.shown = []int{}
	for _, name := range key {
		if i := herb.FieldIndex(s.Fields, name); !slices.Contains(r.Selected, i) {
			s.shown = append(s.shown, i)
		}
	}
	s.shown = append(s.shown, r.Selected...)
}

// Select returns the changes that a request selects. The caller must release them. The views and
// the comparison must stay open while they are read.
func Select(ctx context.Context, c *segment.Comparison, from, to library.View, r *query.ChangesRequest) (s *Changes,
	err error) {
	s = &Changes{comparison: c, request: r, from: side{View: from}, to: side{View: to}}
	s.Summary = Summary{
		From: from.Version, To: to.Version, Key: c.Key,
		Fields: Fields{Added: orEmpty(c.FieldsAdded), Removed: orEmpty(c.FieldsRemoved),
			Retyped: orEmpty(c.FieldsRetyped)},
	}
	s.from.show(c.Key, r.Before)
	s.to.show(c.Key, r.After)
	positions := make(map[string]int, len(from.Fields))
	for i, f := range from.Fields {
		positions[f.Name] = i
	}
	isAll := r.After == nil || r.After.Selected == nil
	s.isSelected = slices.Repeat([]bool{isAll}, len(to.Fields))
	for _, f := range to.Fields {
		was, known := positions[f.Name]
		if !known {
			was = -1
		}
		s.earlier = append(s.earlier, was)
	}
	if !isAll {
		for _, i := range r.After.Selected {
			s.isSelected[i] = true
		}
	}
	unchanged := c.Unchanged
	defer func() {
		if err != nil {
			s.Release()
		}
	}()
	if !r.IsUnfiltered() {
		for i, view := range []library.View{from, to} {
			matching := []*query.Request{r.Before, r.After}[i]
			s.matched[i] = &segment.RecordSet{}
			if matching == nil {
				continue
			}
			s.matched[i], err = view.Reader.Matching(ctx, matching)
			if err != nil {
				return s, err
			}
		}
	}
	if r.IsWhole() {
		s.Added, s.Removed, s.Changed, s.Unchanged = c.Added, c.Removed, c.Changed, unchanged
		return s, nil
	}
	return s, s.count(ctx)
}

// Release releases the memory of the changes.
func (s *Changes) Release() {
	for _, set := range s.matched {
		set.Release()
	}
}

func orEmpty(names []string) []string { return append([]string{}, names...) }

// count counts the selected changes.
func (s *Changes) count(ctx context.Context) error {
	matchingTo := s.to.Records
	if s.matched[1] != nil {
		matchingTo = s.matched[1].Len()
	}
	s.Unchanged = matchingTo
	all := *s.request // counts of all kinds say what is unchanged
	all.Ops = query.ChangeOps()
	for d, err := range s.each(ctx, &all) {
		if err != nil {
			return err
		}
		op := opOf(d)
		if op != query.OpRemoved && (s.matched[1] == nil || s.matched[1].Has(d.To)) {
			s.Unchanged--
		}
		if !slices.Contains(s.request.Ops, op) {
			continue
		}
		switch op {
		case query.OpAdded:
			s.Added++
		case query.OpRemoved:
			s.Removed++
		default:
			s.Changed++
		}
	}
	return nil
}

func opOf(d segment.Difference) query.ChangeOp {
	switch {
	case d.From == segment.NoRecord:
		return query.OpAdded
	case d.To == segment.NoRecord:
		return query.OpRemoved
	}
	return query.OpChanged
}

// each yields the differences that a request selects, in order.
func (s *Changes) each(ctx context.Context, r *query.ChangesRequest) iter.Seq2[segment.Difference, error] {
	return func(yield func(segment.Difference, error) bool) {
		steps := newPace(ctx)
		block := make([]segment.Difference, 4096)
		for at := 0; ; {
			n, err := s.comparison.Differences.Read(block, at)
			if err == nil {
				err = steps.add(n)
			}
			if err != nil {
				yield(segment.Difference{}, err)
				return
			}
			if n == 0 {
				return
			}
			at += n
			for _, d := range block[:n] {
				selected, err := s.selects(steps, r, d)
				if (err != nil || selected) && !yield(d, err) || err != nil {
					return
				}
				if selected {
					steps.resume()
				}
			}
		}
	}
}

// selects reports whether a request selects a difference.
func (s *Changes) selects(steps *pace, r *query.ChangesRequest, d segment.Difference) (bool, error) {
	op := opOf(d)
	if !slices.Contains(r.Ops, op) {
		return false, nil
	}
	if s.matched[0] != nil && !(op != query.OpAdded && s.matched[0].Has(d.From)) &&
		!(op != query.OpRemoved && s.matched[1].Has(d.To)) {
		return false, nil
	}
	if op != query.OpChanged || !slices.Contains(s.isSelected, false) {
		return true, nil
	}
	if err := s.load(d); err != nil { // only changes of the selected fields count
		return false, err
	}
	if err := steps.add((len(s.from.record) + len(s.to.record)) / 64); err != nil {
		return false, err
	}
	for i := range s.to.Fields {
		if s.isSelected[i] && s.isChanged(i) {
			return true, nil
		}
	}
	return false, nil
}

// load reads the records of a difference.
func (s *Changes) load(d segment.Difference) error {
	for i, side := range []*side{&s.from, &s.to} {
		n := []uint32{d.From, d.To}[i]
		side.record, side.members = side.record[:0], side.members[:0]
		if n == segment.NoRecord {
			continue
		}
		var err error
		side.record, err = side.Reader.AppendRecord(side.record, int(n))
		if err != nil {
			return err
		}
		side.members, err = herb.AppendMembers(side.members, side.record, len(side.Fields))
		if err != nil {
			return err
		}
	}
	return nil
}

// isChanged reports whether a field of to differs between the records that are loaded.
func (s *Changes) isChanged(field int) bool {
	if was := s.earlier[field]; was >= 0 {
		return !bytes.Equal(s.from.members[was], s.to.members[field])
	}
	return !bytes.HasSuffix(s.to.members[field], []byte(`:""`))
}

// Lines yields the selected changes from an offset on as JSON objects, at most limit. A line is
// valid until the next one.
func (s *Changes) Lines(ctx context.Context, offset, limit int) iter.Seq2[[]byte, error] {
	return s.render(ctx, offset, limit, s.appendLine)
}

// Stream yields the summary and then all selected changes: the lines of changes.ndjson. A line is
// valid until the next one.
func (s *Changes) Stream(ctx context.Context) (iter.Seq2[[]byte, error], error) {
	summary, err := s.AppendSummary(nil)
	return func(yield func([]byte, error) bool) {
		if yield(summary, nil) {
			s.Lines(ctx, 0, s.Total())(yield)
		}
	}, err
}

// Updates yields the selected changes as records with the fields of UpdateFields: the record as it
// is now, or the key of a removed one. A record is valid until the next one.
func (s *Changes) Updates(ctx context.Context) iter.Seq2[[]byte, error] {
	return s.render(ctx, 0, s.Total(), s.appendUpdate)
}

// render yields changes in a form.
func (s *Changes) render(ctx context.Context, offset, limit int,
	form func([]byte, query.ChangeOp) []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf []byte
		for op, err := range s.loaded(ctx, offset, limit) {
			if err != nil {
				yield(nil, err)
				return
			}
			buf = form(buf[:0], op)
			if !yield(buf, nil) {
				return
			}
		}
	}
}

// loaded loads the selected changes from an offset on, at most limit, one after the other.
func (s *Changes) loaded(ctx context.Context, offset, limit int) iter.Seq2[query.ChangeOp, error] {
	return func(yield func(query.ChangeOp, error) bool) {
		n := 0
		if limit <= 0 {
			return
		}
		for d, err := range s.each(ctx, s.request) {
			n++
			if err == nil && n <= offset {
				continue
			}
			if err == nil {
				err = s.load(d)
			}
			if !yield(opOf(d), err) || err != nil || n == offset+limit {
				return
			}
		}
	}
}

// appendLine appends the loaded difference as a JSON object.
func (s *Changes) appendLine(b []byte, op query.ChangeOp) []byte {
	b = append(append(append(b, `{"op":"`...), op...), '"')
	switch op {
	case query.OpAdded:
		return append(s.to.appendShown(append(b, `,"record":`...)), '}')
	case query.OpRemoved:
		return append(s.from.appendShown(append(b, `,"record":`...)), '}')
	}
	b = appendMembers(append(b, `,"key":`...), func(yield func([]byte) bool) {
		for _, name := range s.Key {
			if !yield(s.to.members[herb.FieldIndex(s.to.Fields, name)]) {
				return
			}
		}
	})
	b = appendMembers(append(b, `,"old":`...), func(yield func([]byte) bool) {
		for i := range s.to.Fields {
			if was := s.earlier[i]; s.isSelected[i] && was >= 0 && s.isChanged(i) && !yield(s.from.members[was]) {
				return
			}
		}
	})
	b = appendMembers(append(b, `,"new":`...), func(yield func([]byte) bool) {
		for i := range s.to.Fields {
			if s.isSelected[i] && s.isChanged(i) && !yield(s.to.members[i]) {
				return
			}
		}
	})
	return append(b, '}')
}

// appendShown appends the loaded record with the fields that are shown.
func (s *side) appendShown(b []byte) []byte {
	if s.shown == nil {
		return append(b, s.record...)
	}
	return appendMembers(b, func(yield func([]byte) bool) {
		for _, i := range s.shown {
			if !yield(s.members[i]) {
				return
			}
		}
	})
}

// appendMembers appends an object with members.
func appendMembers(b []byte, members iter.Seq[[]byte]) []byte {
	b = append(b, '{')
	first := true
	for m := range members {
		if !first {
			b = append(b, ',')
		}
		b, first = append(b, m...), false
	}
	return append(b, '}')
}

// DeletedField is the column of a table of changes that marks removed records.
const DeletedField = "_deleted"

// UpdateFields returns the columns of a table of changes: the fields of the later version and
// DeletedField. It fails with herb.CodeInvalid if such a table cannot be applied: a field has that
// name, no key identifies the records, or the type of the key changed.
func (s *Changes) UpdateFields() ([]herb.Field, error) {
	if herb.FieldIndex(s.to.Fields, DeletedField) >= 0 {
		return nil, herb.Invalidf(
			"%s has a field called %s, so a table cannot say which records are removed; use changes.ndjson", s.to.Ref,
			DeletedField)
	}
	for _, name := range s.Key {
		if slices.Contains(s.Fields.Retyped, name) { // keys would be compared in another way than here
			return nil, herb.Invalidf(
				"the field %s of the primary key of %s has different types in the two versions, so a table of "+
					"changes could not be "+
					"applied; use changes.ndjson, or fetch all records", name, s.to.Ref)
		}
	}
	if s.Key == nil {
		return nil, herb.Invalidf(
			"no primary key identifies the records of %s in both versions, so a table of changes could not be applied; "+
				"use changes.ndjson, or fetch all records", s.to.Ref)
	}
	return append(slices.Clone(s.to.Fields), herb.Field{Name: DeletedField}), nil
}

// appendUpdate appends the loaded difference as a record of a table of changes.
func (s *Changes) appendUpdate(b []byte, op query.ChangeOp) []byte {
	deleted := "false"
	b = append(b, '{')
	for i, f := range s.to.Fields {
		switch was := s.earlier[i]; {
		case op != query.OpRemoved:
			b = append(b, s.to.members[i]...)
		case was >= 0 && slices.Contains(s.Key, f.Name):
			b = append(b, s.from.members[was]...)
		default:
			b = append(herb.AppendJSONString(b, f.Name), `:""`...)
		}
		b = append(b, ',')
	}
	if op == query.OpRemoved {
		deleted = "true"
	}
	b = append(herb.AppendJSONString(b, DeletedField), ':')
	return append(herb.AppendJSONString(b, deleted), '}')
}

// AppendSummary appends the summary as JSON.
func (s Summary) AppendSummary(b []byte) ([]byte, error) {
	encoded, err := json.Marshal(s)
	return append(b, encoded...), err
}

package query

import (
	"slices"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Parameters of requests for changes.
const (
	ParamFrom = "_from"
	ParamTo   = "_to"
	ParamOp   = "_op"
)

// ChangeOp is what happened to a record between two versions.
type ChangeOp string

// The changes of a record.
const (
	OpAdded   ChangeOp = "added"
	OpRemoved ChangeOp = "removed"
	OpChanged ChangeOp = "changed"
)

// ChangeOps returns all changes.
func ChangeOps() []ChangeOp { return []ChangeOp{OpAdded, OpRemoved, OpChanged} }

// ChangesRequest asks for the records that differ between two versions of a dataset. A record
// matches if its values in one of the versions do.
type ChangesRequest struct {
	*Request // the page and the parameters, for the later version
	Ops      []ChangeOp
	// Before and After select records by their values in the earlier and the later version. nil: no
	// record of that version matches, because it lacks a field of the filters.
	Before, After *Request
}

// IsWhole reports whether a request selects all changes with all fields.
func (r *ChangesRequest) IsWhole() bool {
	return r.IsUnfiltered() && r.Before.Selected == nil && r.After.Selected == nil && len(r.Ops) == len(ChangeOps())
}

// IsUnfiltered reports whether all records of both versions match.
func (r *ChangesRequest) IsUnfiltered() bool {
	return r.Before != nil && r.After != nil && r.After.SelectsAll()
}

// CutVersions returns the versions that a request for changes names and the query string without
// them. The versions decide which fields the other parameters may name.
func (s String) CutVersions() (from, to string, rest String, err error) {
	if err := s.check(); err != nil {
		return "", "", s, err
	}
	for _, name := range []string{ParamFrom, ParamTo} {
		given := 0
		for _, p := range s.params {
			if p.Name == name {
				given++
			}
		}
		if given > 1 {
			return "", "", s, givenTwice(name)
		}
	}
	from, to = s.Get(ParamFrom), s.Get(ParamTo)
	if from == "" {
		return "", "", s, herb.Invalidf(
			"no %q is given; name the version to compare with, as in %s=<version>, or its label; "+
				"…/versions lists those that are kept", ParamFrom, ParamFrom)
	}
	return from, to, s.Without(ParamFrom, ParamTo), nil
}

// Changes parses a request for the changes between two versions with the given fields. An export
// has no pages.
func (s String) Changes(before, after []herb.Field, isExport bool) (*ChangesRequest, error) {
	if s.now.IsZero() { // the same for both versions
		s.now = time.Now()
	}
	r := &ChangesRequest{}
	later, err := s.changesOf(after, before, isExport, &r.Ops)
	earlier, failed := s.changesOf(before, after, isExport, &r.Ops)
	if err != nil && failed != nil {
		return nil, err
	}
	r.Request = later
	if later == nil {
		r.Request = earlier
	}
	r.Before, r.After = earlier, later
	if len(r.Ops) == 0 {
		r.Ops = ChangeOps()
	}
	return r, nil
}

// changesOf parses a request for the records of one of two versions. others are the fields of the
// other one.
func (s String) changesOf(fields, others []herb.Field, isExport bool, ops *[]ChangeOp) (*Request, error) {
	*ops = nil
	r := newRequest(fields)
	kind, scope := KindChanges, "changes take only filters, search, _op, _fields, page and per_page"
	if isExport {
		kind = KindFeed // a file has no other ones: the versions are cut
		scope = "a file or a feed of changes has no pages, and takes only filters, search, _op and _fields"
	}
	err := r.parse(s, scope, kind, func(p Param) (err error) {
		switch p.Name {
		case ParamPage:
			r.Page, err = parseWhole(p, 1, MaxPage, "a whole number from 1 to %d")
		case ParamPerPage:
			r.PerPage, err = parsePerPage(p.Value)
		case ParamFields:
			r.Selected, err = parseFieldsOfEither(p.Value, fields, others)
		case ParamOp:
			*ops, err = parseOps(p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseOps parses a comma-separated list of changes.
func parseOps(p Param) (ops []ChangeOp, err error) {
	for name := range strings.SplitSeq(p.Value, ",") {
		if err := checkChoice(Param{p.Name, name}, string(OpAdded), string(OpRemoved), string(OpChanged)); err != nil {
			return nil, err
		}
		if !slices.Contains(ops, ChangeOp(name)) {
			ops = append(ops, ChangeOp(name))
		}
	}
	return ops, nil
}

// parseFieldsOfEither returns the positions of the selected fields that a version has. Fields of
// the other version may be selected, too.
func parseFieldsOfEither(value string, fields, others []herb.Field) ([]int, error) {
	all := slices.Clone(fields)
	for _, f := range others {
		if herb.FieldIndex(fields, f.Name) < 0 {
			all = append(all, f)
		}
	}
	selected, err := parseFields(value, all)
	if selected == nil || err != nil {
		return nil, err
	}
	own := []int{} // nil selects all
	for _, i := range selected {
		if i < len(fields) {
			own = append(own, i)
		}
	}
	return own, nil
}

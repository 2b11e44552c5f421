package browse

import (
	"context"
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/query"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/comparisons"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/state"
	"herbarium/internal/web/view/tables"
)

// historyPage is a record in all kept versions.
type historyPage struct {
	Head    datasets.Head
	Title   string // of the record
	Key     string // its primary key
	Table   *comparisons.Table
	Record  string // link to the record in the version that the URL names; empty: that does not have it
	Read    int    // versions
	Kept    int
	Compare string // path of the page of changes
}

// pastRecord is a record in one of the versions.
type pastRecord struct {
	comparisons.Version
	values herb.Record // by field of the shown version; nil: the version does not have the record
	note   string      // why it is unknown whether it does; empty: it is known
}

// recordHistory serves the values of a record in the kept versions that the visitor may read.
func (p *versionPages) recordHistory(w *httpapi.Page, r *http.Request, v datasetView) error {
	if v.Denied != nil {
		return p.RequestKey(w, r, &v.DatasetView, site.ViewHistory+"?"+r.URL.RawQuery, v.Denied)
	}
	s, _, err := p.parseState(r, v)
	if err != nil {
		return err
	}
	key := s.RecordKey()
	switch {
	case v.Reader == nil, len(v.PrimaryKey) == 0:
		return herb.Errorf(herb.CodeNotFound,
			"%s has no versions, or no primary key that identifies its records in all of them", v.Ref)
	case key == nil:
		return herb.Invalidf("name one record by its primary key, as in …/history?%s=…",
			strings.Join(v.PrimaryKey, "=…&"))
	}
	history, err := p.visibleHistory(r.Context(), w, v.Ref)
	if err != nil {
		return err
	}
	page := historyPage{Table: comparisons.NewTable(&s, nil, nil, 0), Key: herb.Clip(strings.Join(key, " / "), 120),
		Kept: len(history), Compare: p.DatasetPath(v.Ref) + "/changes"}
	page.Head, err = p.head(w, r, v, "versions")
	if err != nil {
		return err
	}
	page.Head.SetState(&s)
	page.Head.Download = nil
	if err := page.read(r.Context(), w, p, v, &s, history[:min(len(history), maxListed)], key); err != nil {
		return err
	}
	l := p.Shell(r, "History of "+page.Title+": "+datasets.Title(&v.Dataset), datasets.Describe(&v.Dataset))
	l.Framed = true
	return p.Render(w, "history", l, &page)
}

// read reads the record in all versions, newest first, and adds a row for each. Two records are in
// memory at a time: that of a version and that of the one before it.
func (page *historyPage) read(ctx context.Context, w *httpapi.Page, p *versionPages, v datasetView, s *state.State,
	history []versions.Version, key []string) error {
	var newer *pastRecord // the version whose row is missing
	isFound := false
	release := func() {}
	defer func() { release() }()
	for _, info := range history {
		past, free, err := p.findPast(ctx, w, v, s, &info, key)
		if err != nil {
			return err
		}
		page.Read++
		if past.values != nil {
			isFound = true
			if page.Title == "" {
				page.Title = tables.Title(s.Dataset, past.values)
			}
			if info.Version == v.Version {
				page.Record = s.Permalink(past.values, nil)
			}
		}
		if newer != nil {
			page.addRow(newer, past)
		}
		release()
		newer, release = past, free
	}
	if newer != nil {
		page.addRow(newer, nil)
	}
	if !isFound {
		return herb.Errorf(herb.CodeNotFound, "no kept version that you may read has a record with the key %q",
			page.Key)
	}
	if page.Title == "" {
		page.Title = page.Key
	}
	return nil
}

// findPast looks the record up in a version. The caller releases its memory.
func (p *versionPages) findPast(ctx context.Context, w *httpapi.Page, v datasetView, s *state.State,
	info *versions.Version, key []string) (past *pastRecord, release func(), err error) {
	past, release = &pastRecord{Version: comparisons.NewVersion(&info.Dataset, info.Live)}, func() {}
	other := v.DatasetView
	if info.Version != v.Version {
		other, err = w.OpenOther(v.DatasetView, info.Version)
		if err != nil {
			if herb.CodeOf(err) == herb.CodeGone { // since the list was read
				past.note, err = "This version is no longer kept.", nil
			}
			return past, release, err
		}
		defer other.Release()
	}
	if other.Access.NeedsKey() {
		w.SetPrivate()
	}
	if other.Denied != nil {
		past.note = "This version requires a key."
		return past, release, nil
	}
	for _, name := range v.PrimaryKey {
		if herb.FieldIndex(other.Fields, name) < 0 {
			past.note = "This version has no column “" + herb.Clip(name, 60) + "”."
			return past, release, nil
		}
	}
	found, err := operations.WithKey(ctx, &other.View, v.PrimaryKey, key, nil)
	switch {
	case herb.CodeOf(err) == herb.CodeInvalid: // no value of its type is the key
		return past, release, nil
	case err != nil:
		return past, release, err
	}
	defer found.Release()
	switch {
	case found.Total > 1:
		past.note = herb.Count(found.Total) + " records of this version have the key."
		return past, release, nil
	case found.Total == 0:
		return past, release, nil
	}
	const copies = 2 // of a record and its values
	release, err = query.Reserve(ctx, copies*len(found.Records[0]))
	if err != nil {
		return past, func() {}, err
	}
	positions := make([]int, len(other.Fields))
	for i, f := range other.Fields {
		positions[i] = herb.FieldIndex(s.Fields, f.Name)
	}
	past.values, err = decodeEarlier(other.Fields, found.Records[0], positions, len(s.Fields),
		func(int) int { return len(found.Records[0]) })
	return past, release, err
}

// addRow adds the row of a version, compared with the previous one; nil: none is kept.
func (page *historyPage) addRow(past, previous *pastRecord) {
	row := comparisons.Row{Version: &past.Version, Note: past.note}
	isKnown := previous != nil && previous.note == ""
	var before herb.Record
	if isKnown {
		before = previous.values
	}
	if past.note == "" && past.values == nil && before == nil {
		row.Note = "This version does not have the record."
	}
	if row.Note != "" {
		page.Table.Rows = append(page.Table.Rows, row)
		return
	}
	pair := comparisons.Pair{Old: before, New: past.values,
		IsChanged: func(i int) bool { return before[i] != past.values[i] }}
	switch {
	case past.values == nil:
		pair.Op = query.OpRemoved
	case previous == nil:
		row.Detail = "earliest"
	case !isKnown:
		row.Detail = "unknown"
	case before == nil:
		pair.Op = query.OpAdded
	default:
		row.Detail = "no change"
		for i := range before {
			if pair.IsChanged(i) {
				pair.Op, row.Detail = query.OpChanged, ""
			}
		}
	}
	page.Table.Add(row, pair)
}

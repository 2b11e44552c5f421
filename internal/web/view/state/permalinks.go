package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// RowHash returns the content hash of a record, which names it in links to datasets without a
// primary key.
func RowHash(record []byte) string {
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:8])
}

// contentLink returns the link to a record by its content: filters by its most selective values,
// which find a few rows at any size of the dataset, and the hash of the record that is one of them.
func (s *State) contentLink(row herb.Record, record []byte) string {
	const fields, maxValue = 3, 60 // bytes
	var candidates []int
	for i, f := range s.Fields {
		if f.Filterable && f.Type != herb.TypeList && row[i] != "" && len(row[i]) <= maxValue {
			candidates = append(candidates, i)
		}
	}
	distinct := func(i int) int {
		if c := s.Dataset.Meanings[i].Report; c != nil {
			return c.Distinct
		}
		return 0
	}
	slices.SortStableFunc(candidates, func(a, b int) int { return cmp.Compare(distinct(b), distinct(a)) })
	var ps query.Params
	for _, i := range candidates[:min(len(candidates), fields)] {
		ps = append(ps, s.EqFilter(i, row[i]))
	}
	if ps == nil {
		return ""
	}
	return Join(s.Path, ps.WithValue(ParamRow, RowHash(record)).WithValue(query.ParamVersion, s.Version).Encode())
}

// OpenRow opens the record at a position in the whole listing, from 0.
func (s *State) OpenRow(position int) {
	s.Listing = s.AnyPage().Without(query.ParamPerPage)
	if page := position / PageRows; page > 0 {
		s.Listing = s.Listing.WithValue(query.ParamPage, strconv.Itoa(page+1))
	}
	s.Record, s.Row = position%PageRows+1, ""
}

// Permalink returns the link to a record by its primary key, or by its content. It is empty if no
// field can be filtered by its whole value.
func (s *State) Permalink(row herb.Record, record []byte) string {
	if len(s.Dataset.PrimaryKey) == 0 {
		return s.contentLink(row, record)
	}
	ps := s.keyParams(row)
	if ps == nil {
		return ""
	}
	return Join(s.Path, ps.WithValue(ParamRecord, "1").WithValue(query.ParamVersion, s.Version).Encode())
}

// HistoryHref returns the link to the history of a record, below the path of the table. It is empty
// if the record has no primary key that can be filtered.
func (s *State) HistoryHref(path string, row herb.Record) string {
	const longest = 2 << 10 // bytes of a query string
	ps := s.keyParams(row)
	if ps == nil || len(ps.Encode()) > longest {
		return ""
	}
	return Join(path+"/history", ps.WithValue(query.ParamVersion, s.Version).Encode())
}

// keyParams returns the filters that find a record by its primary key; nil: there are none.
func (s *State) keyParams(row herb.Record) (ps query.Params) {
	for _, name := range s.Dataset.PrimaryKey {
		i := herb.FieldIndex(s.Fields, name)
		if i < 0 || !s.Fields[i].Filterable || s.Fields[i].Type == herb.TypeList {
			return nil
		}
		ps = append(ps, s.EqFilter(i, row[i]))
	}
	return ps
}

// RecordKey returns the values of the primary key that the listing asks for, in its order; nil: it
// asks for something else.
func (s *State) RecordKey() (key []string) {
	for _, name := range s.Dataset.PrimaryKey {
		i := herb.FieldIndex(s.Fields, name)
		if i < 0 {
			return nil
		}
		at := slices.IndexFunc(s.Listing, func(p query.Param) bool {
			field, op, ok := query.ResolveFilter(p.Name, s.Fields)
			return ok && field == i && op == query.OpEq
		})
		if at < 0 {
			return nil
		}
		key = append(key, s.Listing[at].Value)
	}
	if len(key) != len(s.Listing) {
		return nil
	}
	return key
}

package view

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
	for i, f := range s.fields {
		if f.Filterable && f.Type != herb.TypeList && row[i] != "" && len(row[i]) <= maxValue {
			candidates = append(candidates, i)
		}
	}
	distinct := func(i int) int {
		if c := ColumnReport(s.dataset, i); c != nil {
			return c.Distinct
		}
		return 0
	}
	slices.SortStableFunc(candidates, func(a, b int) int { return cmp.Compare(distinct(b), distinct(a)) })
	var ps query.Params
	for _, i := range candidates[:min(len(candidates), fields)] {
		ps = append(ps, query.Param{Name: s.eqParam(i), Value: row[i]})
	}
	if ps == nil {
		return ""
	}
	return Join(s.Path, ps.WithValue(ParamRow, RowHash(record)).WithValue(query.ParamVersion, s.Version).Encode())
}

// OpenRow opens the record at a position in the whole listing, from 0.
func (s *State) OpenRow(position int) {
	s.Listing = s.AnyPage().Without(query.ParamPerPage)
	if page := position / pageRows; page > 0 {
		s.Listing = s.Listing.WithValue(query.ParamPage, strconv.Itoa(page+1))
	}
	s.Record, s.Row = position%pageRows+1, ""
}

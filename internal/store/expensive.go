package store

import (
	"slices"

	"herbarium/internal/query"
)

// cheapOffset is how many entries of an index a cheap listing may skip.
const cheapOffset = 20_000

// Expensive reports whether a listing may read a large part of the plants, so that it must not use the connections that are
// reserved for writes and for listings that read little more than their page.
func Expensive(r *query.Request) bool {
	if r.Search != nil || r.Sort != query.NoSort && r.Offset() > cheapOffset {
		return true
	}
	if len(r.Conditions) == 1 && r.Conditions[0].Field == fieldTag { // counted in advance
		c := r.Conditions[0]
		return c.Op != query.OpEq && c.Op != query.OpNe || r.Offset() > cheapOffset
	}
	return slices.ContainsFunc(r.Conditions, func(c query.Condition) bool { return c.Field == fieldTag || c.Op != query.OpEq })
}

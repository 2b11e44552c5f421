package view

import (
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Chip is an active filter or search, with a link to the page without it.
type Chip struct {
	Field, Relation, Value string
	Remove                 string
	Invalid                bool
}

// NewChips returns the filters and the search of a listing in the order of the URL, and the link that removes them all.
// invalid are the names of parameters that the API rejects.
func NewChips(s *State, invalid []string) (chips []Chip, clear string) {
	var kept query.Params
	for i, p := range s.Listing {
		switch p.Name {
		case query.ParamPage:
			continue
		case query.ParamPerPage, query.ParamSort, query.ParamOrder, query.ParamFields:
			if !slices.Contains(invalid, p.Name) {
				kept = append(kept, p)
				continue
			}
		}
		c := newChip(p, s.fields)
		c.Invalid = c.Invalid || slices.Contains(invalid, p.Name)
		c.Remove = s.Href(slices.Delete(slices.Clone(s.Listing), i, i+1).Without(query.ParamPage))
		chips = append(chips, c)
	}
	return chips, s.Href(kept)
}

func newChip(p query.Param, fields []herb.Field) Chip {
	if p.Name == query.ParamSearch {
		return Chip{Field: "search", Value: p.Value}
	}
	i, op, ok := query.ResolveFilter(p.Name, fields)
	if !ok {
		return Chip{Field: p.Name, Relation: "=", Value: p.Value, Invalid: true}
	}
	c := Chip{Field: Heading(fields[i]), Relation: relations[op], Value: p.Value}
	switch {
	case op == query.OpEmpty:
		c.Value, c.Relation = "", "is empty"
		if p.Value == "false" {
			c.Relation = "is not empty"
		}
	case p.Value == "" && op == query.OpEq:
		c.Relation = "is empty"
	case p.Value == "" && op == query.OpNe:
		c.Relation = "is not empty"
	case fields[i].Type == herb.TypeDate, fields[i].Type == herb.TypeDateTime:
		_, c.Value = Time(&fields[i], p.Value)
	case fields[i].Type == herb.TypeList && op == query.OpEq:
		c.Relation = "has"
	}
	return c
}

// relations are the operators in words.
var relations = map[query.Op]string{
	query.OpEq: "is", query.OpNe: "is not", query.OpGt: "over", query.OpGte: "from", query.OpLt: "under", query.OpLte: "up to",
	query.OpPrefix: "begins with", query.OpIn: "is one of", query.OpMatch: "matches",
}

package browse

import (
	"context"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/comparisons"
	"herbarium/internal/web/view/state"
)

// maxKeyValue is the limit in bytes of a value of a primary key that a page reads for a link.
const maxKeyValue = 2 << 10

// addRows adds the rows of a page of changes.
func (c *comparison) addRows(ctx context.Context, s *state.State, v *comparedVersions, selected *changes.Changes,
	req *query.ChangesRequest, path string) error {
	limits := make([]int, len(s.Fields)) // of values that did not change, by field of the later version
	for _, h := range c.Headers {
		limits[h.Index] = comparisons.MaxSame
	}
	for _, name := range s.Dataset.PrimaryKey {
		if i := herb.FieldIndex(s.Fields, name); i >= 0 {
			limits[i] = maxKeyValue
		}
	}
	// of the fields of the earlier version in the later one; negative: it is gone
	positions := make([]int, len(v.from.Fields))
	for i, f := range v.from.Fields {
		positions[i] = herb.FieldIndex(s.Fields, f.Name)
	}
	for pair, err := range selected.Pairs(ctx, req.Offset(), req.PerPage) {
		if err != nil {
			return err
		}
		limit := func(field int) int {
			if pair.Op == query.OpChanged && limits[field] > 0 && pair.IsChanged(field) {
				return max(len(pair.From), len(pair.To))
			}
			return limits[field]
		}
		shown := comparisons.Pair{Op: pair.Op, IsChanged: pair.IsChanged}
		if pair.To != nil {
			shown.New, err = herb.DecodeClipped(v.to.Fields, pair.To, limit)
			if err != nil {
				return err
			}
		}
		if pair.From != nil {
			shown.Old, err = decodeEarlier(v.from.Fields, pair.From, positions, len(s.Fields), limit)
			if err != nil {
				return err
			}
		}
		var row comparisons.Row
		if key := shown.New; c.Key != nil {
			if key == nil {
				key = shown.Old
			}
			row.Href = s.HistoryHref(path, key)
		}
		c.Add(row, shown)
	}
	return nil
}

// decodeEarlier decodes a record of another version by the fields of the shown one. positions are
// those of its fields there; limit is by field of the shown version.
func decodeEarlier(fields []herb.Field, record []byte, positions []int, shown int,
	limit func(field int) int) (herb.Record, error) {
	values, err := herb.DecodeClipped(fields, record, func(field int) int {
		if positions[field] < 0 {
			return 0
		}
		return limit(positions[field])
	})
	if err != nil {
		return nil, err
	}
	row := make(herb.Record, shown)
	for i, value := range values {
		if positions[i] >= 0 {
			row[positions[i]] = value
		}
	}
	return row, nil
}

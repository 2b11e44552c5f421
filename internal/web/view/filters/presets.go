package filters

import (
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
	"herbarium/internal/web/view/state"
)

// newPresets returns the links that filter a field of dates by its last 7 days, its last 30 days
// and its last year, or a field of periods by its last year; nil for other types. They count back
// from the last date of the column rather than from today, because the data may end years ago.
func newPresets(s *state.State, field int, last string) []state.Link {
	f := &s.Fields[field]
	if f.Type != herb.TypeDate && f.Type != herb.TypeDateTime {
		return nil
	}
	canonical, status := text.Operand(f, last)
	if status != text.Valid || len(canonical) < len(time.DateOnly) {
		return nil
	}
	end, err := time.Parse(time.DateOnly, canonical[:len(time.DateOnly)])
	if err != nil {
		return nil
	}
	since := func(label string, from time.Time) state.Link {
		lower := query.Param{Name: query.FilterParam(f.Name, query.OpGte), Value: from.Format(time.DateOnly)}
		return state.Link{Label: label, Href: s.Href(s.WithoutFilters(field, query.RangeOps()...).With(lower))}
	}
	lastYear := since(strconv.Itoa(end.Year()), time.Date(end.Year(), 1, 1, 0, 0, 0, 0, time.UTC))
	if text.PrecisionOf(f) != text.PrecisionDay {
		return []state.Link{lastYear}
	}
	return []state.Link{since("Last 7 days", end.AddDate(0, 0, -6)),
		since("Last 30 days", end.AddDate(0, 0, -29)), lastYear}
}

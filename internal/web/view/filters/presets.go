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
// and its last year, or a field of weeks, months or quarters by its last ones; nil for other types.
// If a field of days ends near today, the filters move with time, so that links and embeds keep
// their meaning. Otherwise they count back from its last date, because the data may have ended
// years ago.
func newPresets(s *state.State, field int, last string, now time.Time) []state.Link {
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
	const near = 30 * 24 * time.Hour
	moves := text.PrecisionOf(f) == text.PrecisionDay && now.Sub(end).Abs() <= near &&
		end.Year() == now.UTC().Year()
	since := func(label, moving string, from time.Time) state.Link {
		lower := query.Param{Name: query.FilterParam(f.Name, query.OpGte),
			Value: text.Localize(f, from.Format(time.DateOnly))}
		if moves {
			lower.Value = moving
		}
		return state.Link{Label: label, Href: s.Href(s.WithoutFilters(field, query.RangeOps()...).With(lower))}
	}
	lastYear := since(strconv.Itoa(end.Year()), "year", time.Date(end.Year(), 1, 1, 0, 0, 0, 0, time.UTC))
	if moves {
		lastYear.Label = "This year"
	}
	switch text.PrecisionOf(f) {
	case text.PrecisionWeek:
		return []state.Link{since("Last 4 weeks", "", end.AddDate(0, 0, -7*3)),
			since("Last 52 weeks", "", end.AddDate(0, 0, -7*51)), lastYear}
	case text.PrecisionMonth:
		return []state.Link{since("Last 3 months", "", end.AddDate(0, -2, 0)),
			since("Last 12 months", "", end.AddDate(0, -11, 0)), lastYear}
	case text.PrecisionQuarter:
		return []state.Link{since("Last 4 quarters", "", end.AddDate(0, -9, 0)),
			since("Last 12 quarters", "", end.AddDate(0, -33, 0)), lastYear}
	}
	return []state.Link{since("Last 7 days", "today-6d", end.AddDate(0, 0, -6)),
		since("Last 30 days", "today-29d", end.AddDate(0, 0, -29)), lastYear}
}

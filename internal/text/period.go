package text

import (
	"fmt"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Precision is the length of the periods that the dates of a field are. A period compares by its
// first day, which is its canonical form.
type Precision string

// Precisions. Weeks are those of ISO 8601, which begin on Monday.
const (
	PrecisionDay     Precision = "day"
	PrecisionWeek    Precision = "week"
	PrecisionMonth   Precision = "month"
	PrecisionQuarter Precision = "quarter"
)

// PrecisionOf returns the precision of the dates of a field, which follows from their format. All
// other fields have PrecisionDay.
func PrecisionOf(f *herb.Field) Precision {
	if f.Type != herb.TypeDate || f.Notation.DateFormat == "" {
		return PrecisionDay
	}
	return formatPrecision(f.Notation.DateFormat)
}

// formatPrecision returns the precision of a date format, whose alternatives have the same one.
func formatPrecision(format string) Precision {
	switch {
	case strings.Contains(format, "%d"):
		return PrecisionDay
	case strings.Contains(format, "%V"):
		return PrecisionWeek
	case strings.Contains(format, "%q"):
		return PrecisionQuarter
	}
	return PrecisionMonth
}

// Format returns the standard notation of periods. It is empty for days.
func (p Precision) Format() string {
	return map[Precision]string{PrecisionWeek: "%G-W%V", PrecisionMonth: "%Y-%m", PrecisionQuarter: "%Y-Q%q"}[p]
}

// write writes a date in canonical form as a period. Only the first day of a period is one.
func (p Precision) write(canonical string) string {
	t, err := time.Parse(time.DateOnly, canonical)
	year, week := t.ISOWeek()
	switch {
	case err != nil:
	case p == PrecisionWeek && t.Weekday() == time.Monday:
		return fmt.Sprintf("%04d-W%02d", year, week)
	case p == PrecisionMonth && t.Day() == 1:
		return t.Format("2006-01")
	case p == PrecisionQuarter && t.Day() == 1 && t.Month()%3 == 1:
		return fmt.Sprintf("%04d-Q%d", t.Year(), (t.Month()+2)/3)
	}
	return canonical
}

// setWeek sets the date to the Monday of a week of ISO 8601. ok is false if the year has no such
// week.
func (m *moment) setWeek(week int) (ok bool) {
	year, fourth := m.year, time.Date(m.year, time.January, 4, 0, 0, 0, 0, time.UTC) // always in the first week
	monday := fourth.AddDate(0, 0, 7*(week-1)-(int(fourth.Weekday())+6)%7)
	m.year, m.month, m.day = monday.Year(), int(monday.Month()), monday.Day()
	isoYear, isoWeek := monday.ISOWeek()
	return isoYear == year && isoWeek == week && m.year >= 0
}

package query

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// movingDates resolves operands that move with time, such as today-30d, for the filters of one
// request and its conditions on measures. All of them are resolved at the same instant.
type movingDates struct {
	source   String            // of the request; has ParamZone
	now      time.Time         // zero until it is needed; its location is the zone
	resolved map[string]string // by operand, the instant
}

// movingForms names the valid forms in errors.
const movingForms = "now, today, week, month, quarter or year, followed by an offset if needed: today-30d, " +
	"today-2w, now-24h, now-30min, month-1, year-1; in a URL, write + as %%2B"

// movingBases are the beginnings of moving dates.
var movingBases = [...]string{"now", "today", "week", "month", "quarter", "year"}

// IsMoving reports whether an operand of a date or datetime field is meant to move with time.
func IsMoving(operand string) bool {
	_, _, ok := cutMoving(operand)
	return ok
}

// cutMoving splits an operand into base and offset. ok is false if it begins with no base.
func cutMoving(operand string) (base, offset string, ok bool) {
	operand = strings.TrimSpace(operand)
	for _, base := range movingBases {
		if offset, ok := strings.CutPrefix(operand, base); ok && (offset == "" || strings.Contains("+- ", offset[:1])) {
			return base, offset, true
		}
	}
	return "", "", false
}

// MovesAt returns the first time after now at which a filter of the query string may mean another
// instant, whatever the types of the fields are; the zero time if none moves.
func (s String) MovesAt(now time.Time) (at time.Time) {
	for _, p := range s.params {
		if p.Name == ParamFilter || p.Name == ParamHaving {
			_, p.Value, _ = strings.Cut(p.Value, "=")
		} else if IsReserved(p.Name) || strings.HasPrefix(p.Name, "_") && !strings.HasSuffix(p.Name, "]") {
			continue
		}
		for operand := range strings.SplitSeq(p.Value, ",") {
			switch base, _, ok := cutMoving(operand); {
			case !ok:
			case base == "now":
				return now.Truncate(movingInterval).Add(movingInterval)
			default: // periods start with a day
				zone, err := parseZone(cmp.Or(s.Get(ParamZone), "UTC"))
				if err != nil {
					zone = time.UTC // the request is invalid
				}
				at = GrainDay.Next(GrainDay.Start(now.In(zone)))
			}
		}
	}
	return at
}

// movingInterval is the time for which now resolves to the same instant.
const movingInterval = time.Minute

// offsetDigits is the maximum number of digits of an offset.
const offsetDigits = 6

// resolve returns the instant that an operand means, in the zone of the request.
func (m *movingDates) resolve(operand string) (t time.Time, isDay bool, err error) {
	if m.now.IsZero() {
		m.now = m.source.now
		if m.now.IsZero() {
			m.now = time.Now()
		}
		zone := time.UTC
		if name := m.source.Get(ParamZone); name != "" {
			if zone, err = parseZone(name); err != nil {
				return t, false, err
			}
		}
		m.now = m.now.In(zone)
	}
	t, isDay, err = resolveMoving(operand, m.now)
	if err != nil {
		return t, false, err
	}
	if m.resolved == nil {
		m.resolved = map[string]string{}
	}
	m.resolved[strings.TrimSpace(operand)] = t.Format(time.RFC3339)
	return t, isDay, nil
}

// resolveMoving returns the instant that an operand means at a time, in its zone: the start of the
// minute, day or period, moved by its offset. isDay is false for a minute.
func resolveMoving(operand string, now time.Time) (t time.Time, isDay bool, err error) {
	base, offset, _ := cutMoving(operand)
	invalid := herb.Invalidf("%q is not a date that moves with time; valid forms: "+movingForms, clip(operand))
	n, unit := 0, ""
	if offset != "" {
		digits := strings.TrimLeft(offset[1:], "0123456789")
		number := offset[1 : len(offset)-len(digits)]
		n, err = strconv.Atoi(number)
		if err != nil || len(number) > offsetDigits || offset[0] == ' ' {
			return t, false, invalid
		}
		if offset[0] == '-' {
			n = -n
		}
		unit = digits
	}
	grain := Grain(base)
	switch base {
	case "now":
		t = now.Truncate(movingInterval)
	case "today":
		grain = GrainDay
		fallthrough
	default:
		t, isDay = grain.Start(now), true
	}
	switch {
	case offset == "":
	case base == "now" && unit == "h":
		t = t.Add(time.Duration(n) * time.Hour)
	case base == "now" && unit == "min":
		t = t.Add(time.Duration(n) * time.Minute)
	case (base == "now" || base == "today") && unit == "d":
		t = t.AddDate(0, 0, n)
	case (base == "now" || base == "today") && unit == "w", base == "week" && unit == "":
		t = t.AddDate(0, 0, 7*n)
	case base == "month" && unit == "":
		t = t.AddDate(0, n, 0)
	case base == "quarter" && unit == "":
		t = t.AddDate(0, 3*n, 0)
	case base == "year" && unit == "":
		t = t.AddDate(n, 0, 0)
	default:
		return t, false, invalid
	}
	if first, last := 1, 9998; t.Year() < first || t.Year() > last {
		return t, false, herb.Invalidf("%q is in the year %d; give an offset within the years %d to %d", clip(operand),
			t.Year(), first, last)
	}
	return t, isDay, nil
}

// ResolveBound returns the date or datetime in UTC, in canonical form, that a bound in a descriptor
// means at a time if it moves with time. ok is false if it does not, or the type is another one.
func ResolveBound(typ herb.Type, bound string, now time.Time) (canonical string, ok bool, err error) {
	if typ != herb.TypeDate && typ != herb.TypeDateTime || !IsMoving(bound) {
		return "", false, nil
	}
	t, _, err := resolveMoving(bound, now.UTC())
	return canonicalDate(typ, t), err == nil, err
}

// canonicalDate returns an instant as a date in its zone, or as a datetime, in canonical form.
func canonicalDate(typ herb.Type, t time.Time) string {
	if typ == herb.TypeDate {
		return t.Format(time.DateOnly)
	}
	return t.UTC().Format(text.CanonicalDateTime)
}

// operand returns the operand of a field of dates or datetimes.
func (m *movingDates) operand(f *herb.Field, op Op, value string) (o Operand, err error) {
	t, isDay, err := m.resolve(value)
	switch {
	case err != nil:
		return o, err
	case f.Type == herb.TypeDate, !op.IsEquality(), !isDay:
		return newOperand(f, canonicalDate(f.Type, t)), nil
	case t.Location() != time.UTC:
		return o, herb.Invalidf("%s[%s] finds days in UTC only; with %s, use a range, as in %s[gte]=%s", f.Name, op,
			ParamZone, f.Name, clip(value))
	}
	day := t.Format(time.DateOnly)
	return Operand{Text: day, Key: text.PrefixKey(f.Type, day), Day: true}, nil
}

// Resolved returns the instants that the moving dates of the request meant, by operand; nil if it
// has none.
func (r *Request) Resolved() map[string]string { return r.moving.resolved }

// ResultKey returns what determines the result of a parsed request in a version: its canonical
// parameters, the instants that its moving dates meant, and the rules of other forms of words.
func (r *Request) ResultKey() string {
	key := r.Canonical()
	for _, operand := range slices.Sorted(maps.Keys(r.moving.resolved)) {
		key += " " + r.moving.resolved[operand]
	}
	return key + formsKey(r.clauses())
}

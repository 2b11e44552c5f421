package segmenttest

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// timeOfDay matches a time of day, or a prefix of one without am and pm.
var timeOfDay = regexp.MustCompile(
	`^(?i)([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9]{2}(?:[.,][0-9]+)?))?[  ]*([ap]\.?m\.?)?$`)

// parseTimeOfDay parses a time of day as the number HHMMSS with its fraction, which orders times
// and distinguishes 23:59:60 from 24:00:00.
//
// Rule: docs/api.md, "Field types".
func parseTimeOfDay(s string) (*big.Rat, bool) {
	m := timeOfDay.FindStringSubmatch(s)
	if m == nil || m[2] == "" && m[4] == "" {
		return nil, false
	}
	hour, minute, second := rat(m[1]), rat(m[2]), rat(m[3])
	switch half := strings.ToLower(m[4]); {
	case half == "":
	case hour.Cmp(rat("12")) == 0 && half[0] == 'a':
		hour = rat("0")
	case hour.Cmp(rat("12")) < 0 && half[0] == 'p':
		hour.Add(hour, rat("12"))
	}
	hour.Mul(hour, rat("10000"))
	minute.Mul(minute, rat("100"))
	return hour.Add(hour, minute.Add(minute, second)), true
}

// rat parses a decimal number with a point or a comma; an empty text is 0.
func rat(s string) *big.Rat {
	q, ok := new(big.Rat).SetString("0" + strings.ReplaceAll(s, ",", "."))
	if !ok {
		panic(fmt.Sprintf("segmenttest: %q is not a number", s))
	}
	return q
}

// Notations of durations. Amounts and their units are found one by one.
var (
	clockDuration = regexp.MustCompile(`^(?:([0-9]+) days?,? )?([0-9]+):([0-9]{2})(?::([0-9]{2}))?([.,][0-9]+)?$`)
	unitAmount    = regexp.MustCompile(`([0-9]+(?:[.,][0-9]+)?) *([a-zA-Z]+)`)
)

// parseDuration parses a duration as its seconds.
//
// Rule: docs/api.md, "Field types".
func parseDuration(n herb.Notation, s string) (*big.Rat, bool) {
	sum := new(big.Rat)
	rest := strings.TrimLeft(s, "+-")
	if m := clockDuration.FindStringSubmatch(rest); m != nil {
		hours, minutes, seconds := m[2], m[3], m[4]
		if n.DateFormat != "" && seconds == "" {
			hours, minutes, seconds = "", m[2], m[3]
		}
		for _, part := range []struct {
			amount  string
			seconds int64
		}{{m[1], 86400}, {hours, 3600}, {minutes, 60}, {seconds + m[5], 1}} {
			amount := rat(part.amount)
			sum.Add(sum, amount.Mul(amount, big.NewRat(part.seconds, 1)))
		}
	} else {
		amounts := unitAmount.FindAllStringSubmatch(strings.ReplaceAll(strings.TrimPrefix(rest, "P"), "T", " "), -1)
		if amounts == nil {
			return nil, false
		}
		for _, m := range amounts {
			unit := map[string]*big.Rat{
				"w": big.NewRat(604800, 1), "d": big.NewRat(86400, 1), "h": big.NewRat(3600, 1), "m": big.NewRat(60, 1),
				"s": big.NewRat(1, 1), "ms": big.NewRat(1, 1000),
			}[map[bool]string{true: "ms", false: strings.ToLower(m[2][:1])}[m[2] == "ms"]]
			amount := rat(m[1])
			sum.Add(sum, amount.Mul(amount, unit))
		}
	}
	if strings.HasPrefix(s, "-") {
		sum.Neg(sum)
	}
	return sum, true
}

// writeClock writes seconds as H:MM:SS with a fraction.
//
// Rule: docs/api.md, "Compute measures of groups".
func writeClock(seconds *big.Rat) string {
	sign := ""
	if seconds.Sign() < 0 {
		sign, seconds = "-", new(big.Rat).Neg(seconds)
	}
	whole := new(big.Int).Div(seconds.Num(), seconds.Denom())
	_, fraction, _ := strings.Cut(plain(new(big.Rat).Sub(seconds, new(big.Rat).SetInt(whole))), ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	minutes, second := new(big.Int).DivMod(whole, big.NewInt(60), new(big.Int))
	hours, minute := new(big.Int).DivMod(minutes, big.NewInt(60), new(big.Int))
	return fmt.Sprintf("%s%d:%02d:%02d%s", sign, hours, minute, second, fraction)
}

// hasTimePrefix reports whether a time of day, given as its HHMMSS, begins with a prefix.
//
// Rule: docs/api.md, "Dates that start with a text".
func hasTimePrefix(clock *big.Rat, prefix string) bool {
	whole := new(big.Int).Div(clock.Num(), clock.Denom())
	_, fraction, _ := strings.Cut(plain(new(big.Rat).Sub(clock, new(big.Rat).SetInt(whole))), ".")
	digits := fmt.Sprintf("%06d", whole)
	written := digits[:2] + ":" + digits[2:4] + ":" + digits[4:]
	if fraction != "" {
		written += "." + fraction
	}
	prefix = strings.ReplaceAll(prefix, ",", ".")
	return strings.HasPrefix(written, prefix) || strings.Index(prefix, ":") == 1 &&
		strings.HasPrefix(written, "0"+prefix)
}

// clockLabel returns the label of the hour or the minute of a time of day, given as its HHMMSS.
//
// Rule: docs/api.md, "Compute measures of groups".
func clockLabel(g query.Grain, clock *big.Rat) label {
	width := int64(10000)
	if g == query.GrainMinute {
		width = 100
	}
	start := new(big.Int).Div(clock.Num(), clock.Denom()).Int64() / width * width
	return label{text: fmt.Sprintf("%02d:%02d", start/10000, start/100%100),
		place: parsedValue{number: big.NewRat(start, 1)}}
}

// nextClockLabel returns the label of the hour or the minute after one.
//
// Rule: docs/api.md, "Groups without records".
func nextClockLabel(g query.Grain, clock *big.Rat) label {
	step := int64(100)
	if g == query.GrainHour {
		step = 10000
	}
	next := clock.Num().Int64() + step
	if next%10000 == 6000 {
		next += 4000
	}
	return clockLabel(g, big.NewRat(next, 1))
}

// clock returns a time of day in a random notation.
func (g *generator) clock() string {
	if g.chance(15) {
		return pick(g, []string{"23:59:60", "24:00", "24:00:00", "23:59:59.999999999999", "00:00", "12:00 AM",
			"12:00 pm", "23:59:60.5", "0:00"})
	}
	hour, minute := g.IntN(24), pick(g, []int{0, 0, 5, 30, 59})
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("%d:%02d%s", 1+hour%12, minute, pick(g, []string{"am", " PM", " a.m.", " p.m."}))
	case 1:
		return fmt.Sprintf("%d:%02d", hour, minute)
	}
	return fmt.Sprintf("%02d:%02d:%02d", hour, minute, g.IntN(3)) + pick(g, []string{"", "", "", ".5", ".500", ",25"})
}

// duration returns a duration in a random notation.
func (g *generator) duration() string {
	hour, minute, second := g.IntN(40), pick(g, []int{0, 20, 59}), pick(g, []int{0, 0, 30})
	sign := pick(g, []string{"", "", "", "", "-", "+"})
	fraction := pick(g, []string{"", "", "", ".5", ".50", ".125", "," + strings.Repeat("3", 40)})
	switch g.IntN(9) {
	case 0:
		return sign + pick(g, []string{
			"1000000000000000000:00:00", "0:00:00.000000000000000001", "P1DT2H", "PT1H20M", "PT0.5S", "P2W", "0:00",
			"P1D", "1 day, 2:03:04", "2 days 0:00:00.5",
			"1.5h", "90 min", "500ms", "1w 2d", "1.25 minutes", "999999999999999999h", "PT36H", "0s",
			"P1DT0.1H", "1h 0.3 s",
		})
	case 1:
		return fmt.Sprintf("%s%dh %dm", sign, hour, minute)
	case 2:
		return fmt.Sprintf("%sPT%dH%dM%d%sS", sign, hour, minute, second, fraction)
	case 3:
		return fmt.Sprintf("%s%d min %d%s s", sign, hour, second, fraction)
	case 4:
		return fmt.Sprintf("%s%d:%02d", sign, hour, minute)
	}
	return fmt.Sprintf("%s%d:%02d:%02d%s", sign, hour, minute, second, fraction)
}

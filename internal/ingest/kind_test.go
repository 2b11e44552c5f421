package ingest

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"herbarium/internal/text"
)

func TestKindOf(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]kind{
		"0": kindNumber, "-0": kindNumber, "12.50": kindNumber, "-3": kindNumber, "12345678901234567890.1": kindNumber,
		"00042": kindPadded, "-007": kindPadded, "00.5": kindPadded,
		"1e5": kindExponent, "-1.25E-10": kindExponent, "007e1": kindExponent,
		"1e": kindText, "1e+": kindText, "e5": kindText, "1.": kindText, ".5": kindText, "-": kindText, "1,5": kindText,
		"+1": kindText, " 1": kindText, "1 ": kindText, "1.2.3": kindText, "1.e5": kindText, "٣": kindText,
		"2024-02-29": kindDate, "2023-02-29": kindText, "2024-13-01": kindText, "2024-2-29": kindDated,
		"2024/02/29": kindDated, "2024-02-29T10:00": kindDated, "2024-02-29 10:00:00Z": kindDated, "2024-02-29 or so": kindText,
		"01/02/2024": kindDated, "31.12.2024": kindDated, "1/2/24": kindDated, "1.2.24": kindText, "1.2.2024": kindDated,
		"32/12/2024": kindText, "30/02/2024": kindText, "12/31/2024": kindDated, "13/13/2024": kindText, "1/2-2024": kindText,
		"192.168.1.1": kindText, "123/1/2024": kindText, "1/2/2024x": kindText,
	} {
		if got := kindOf([]byte(value)); got != want {
			t.Errorf("%q is of kind %d; want %d", value, got, want)
		}
	}
}

func TestDatedAs(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]notation{
		"2024-02-29": isoDate, "2024-02-29T10:00": timed, "2024/2/29": yearFirst, "31/12/2024": dayFirst,
		"12/31/2024": monthFirst, "01/02/2024": eitherFirst, "29-02-2024": dayFirst, "12.12.2024": eitherFirst,
	} {
		if got, ok := datedAs([]byte(value)); got != want || !ok {
			t.Errorf("%q is written as %d, %t; want %d", value, got, ok, want)
		}
	}
}

// TestKindOf_rules holds what kindOf takes for numbers and dates against the rules by which they are sorted.
func TestKindOf_rules(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const alphabet = "0012-.e/ 93T:"
	for range 300_000 {
		v := make([]byte, 1+rng.IntN(11))
		for i := range v {
			v[i] = alphabet[rng.IntN(len(alphabet))]
		}
		if rng.IntN(4) == 0 && len(v) >= 10 {
			v = v[:10]
			v[4], v[7] = '-', '-'
		}
		k := kindOf(v)
		if _, ok := text.NumberKey(string(v)); ok != (k == kindNumber) {
			t.Fatalf("%q: kind %d, number %t", v, k, ok)
		}
		if ok := text.IsDate(string(v)); ok != (k == kindDate) {
			t.Fatalf("%q: kind %d, date %t", v, k, ok)
		}
	}
	for _, v := range []string{"2024-02-29", "0000-01-01", "1900-02-29", "2000-02-29", "9999-12-31", "2024-04-31"} {
		if text.IsDate(v) != (kindOf([]byte(v)) == kindDate) {
			t.Errorf("%q is a date to one rule and none to the other", v)
		}
	}
}

func TestCharacters(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var s string
		for range rng.IntN(30) {
			s += string([]rune("aé植🌳 ")[rng.IntN(5)])
		}
		if got, want := characters([]byte(s)), utf8.RuneCountInString(s); got != want {
			t.Fatalf("%q has %d characters; want %d", s, got, want)
		}
	}
}

func TestHasBlankEnd(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"a": false, " a": true, "a ": true, "a\t": true, "\na": true, "a b": false, "é": false, "é ": true, "\u00a0a": true,
		"a\u3000": true, " ": true, "é植": false,
	} {
		if got := hasBlankEnd([]byte(value)); got != want {
			t.Errorf("%q: %t; want %t", value, got, want)
		}
	}
}

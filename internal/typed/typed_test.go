package typed_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
	"herbarium/internal/typed"
)

// columnOf returns the column of a field with some values, whose facts are merged from two halves.
func columnOf(f *herb.Field, values ...string) typed.Column {
	var facts, other typed.Facts
	for i, v := range values {
		if i%2 == 0 {
			facts.Add(f, []byte(v))
		} else {
			other.Add(f, []byte(v))
		}
	}
	facts.Merge(typed.DecodeFacts(other.Append(nil)))
	return typed.Of(f, facts)
}

// TestOf checks the type of columns at the limits of each type, and the reasons of columns that
// stay text.
func TestOf(t *testing.T) {
	t.Parallel()
	euro := herb.Notation{Decimal: ",", Group: ".", Affix: "€", Missing: []string{"k. A."}}
	nines := strings.Repeat("9", 38)
	for _, tt := range []struct {
		name   string
		field  herb.Field
		values []string
		want   string
		reason string
	}{
		{"months", herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%Y-%m"}}, []string{"2024-01"},
			"text", "the dates are months, which other programs do not have"},
		{"no values", herb.Field{Type: herb.TypeNumber}, []string{"", " "}, "int64", ""},
		{"int64", herb.Field{Type: herb.TypeNumber}, []string{"9223372036854775807", "-9223372036854775808", "0", "-0"},
			"int64", ""},
		{"above int64", herb.Field{Type: herb.TypeNumber}, []string{"1", "9223372036854775808"}, "decimal(19,0)", ""},
		{"below int64", herb.Field{Type: herb.TypeNumber}, []string{"1", "-9223372036854775809"}, "decimal(19,0)", ""},
		{"money", herb.Field{Type: herb.TypeNumber, Notation: euro}, []string{"1.234,50 €", "€ 0,5", "k. A.", "-7 €"},
			"decimal(6,2)", ""},
		{"percent", herb.Field{Type: herb.TypeNumber, Notation: herb.Notation{Affix: "%"}}, []string{"12 %", "7.5%"},
			"decimal(3,1)", ""},
		{"zeros after the point", herb.Field{Type: herb.TypeNumber}, []string{"1.00", "20.00"}, "decimal(4,2)", ""},
		{"fraction only", herb.Field{Type: herb.TypeNumber}, []string{"0.001"}, "decimal(3,3)", ""},
		{"zero with decimals", herb.Field{Type: herb.TypeNumber}, []string{"0.0"}, "decimal(1,1)", ""},
		{"38 digits", herb.Field{Type: herb.TypeNumber}, []string{nines, "1"}, "decimal(38,0)", ""},
		{"38 digits, decimals in another value", herb.Field{Type: herb.TypeNumber}, []string{nines, "0.5"}, "text",
			"the numbers have 38 digits before and 1 after the decimal point, more than the 38 of a decimal, and " +
				"some have more digits than a double"},
		{"39 digits", herb.Field{Type: herb.TypeNumber}, []string{nines + "9"}, "text",
			"the numbers have 39 digits before and 0 after the decimal point, more than the 38 of a decimal, and " +
				"some have more digits than a double"},
		{"needless zeros", herb.Field{Type: herb.TypeNumber}, []string{"12.5" + strings.Repeat("0", 40)},
			"decimal(3,1)", ""},
		{"doubles", herb.Field{Type: herb.TypeNumber}, []string{"1e30", "0.30000000000000004", "1.5e-20"},
			"double", ""},
		{"one is no double", herb.Field{Type: herb.TypeNumber},
			[]string{"1e30", "0.30000000000000005", "1.5e-20"}, "text",
			"the numbers have 31 digits before and 21 after the decimal point, more than the 38 of a decimal, and " +
				"some have more digits than a double"},
		{"beyond double", herb.Field{Type: herb.TypeNumber}, []string{"1e309"}, "text",
			"the numbers have 310 digits before and 0 after the decimal point, more than the 38 of a decimal, and " +
				"some have more digits than a double"},
		{"duration", herb.Field{Type: herb.TypeDuration}, []string{"1:20:00", "PT1.5S"}, "decimal(5,1)", ""},
		{"date", herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d.%m.%Y"}},
			[]string{"29.2.2024", ""}, "date", ""},
		{"instants", herb.Field{Type: herb.TypeDateTime},
			[]string{"2024-02-29T13:30:00Z", "2024-02-29T13:30:00.123456+05:30"}, "timestamp with time zone", ""},
		{"local times", herb.Field{Type: herb.TypeDateTime}, []string{"2024-02-29T13:30", "2024-02-29"},
			"timestamp", ""},
		{"mixed zones", herb.Field{Type: herb.TypeDateTime}, []string{"2024-02-29T13:30", "2024-02-29T13:30Z"}, "text",
			"some datetimes have a zone and some have none"},
		{"early nanoseconds", herb.Field{Type: herb.TypeDateTime},
			[]string{"1600-01-01", "2024-02-29T13:30:00.1234567"}, "text",
			"the datetimes have nanoseconds, and some are before 1678 or after 2261"},
		{"early microseconds", herb.Field{Type: herb.TypeDateTime},
			[]string{"0001-01-01", "2024-02-29T13:30:00.123456"}, "timestamp", ""},
		{"times", herb.Field{Type: herb.TypeTime}, []string{"9:05 pm", "00:00:00.5"}, "time", ""},
		{"end of day", herb.Field{Type: herb.TypeTime}, []string{"9:05", "24:00"}, "text",
			"some times are 24:00 or a leap second, which other programs do not have"},
		{"leap second", herb.Field{Type: herb.TypeTime}, []string{"9:05", "23:59:60"}, "text",
			"some times are 24:00 or a leap second, which other programs do not have"},
		{"picoseconds", herb.Field{Type: herb.TypeTime}, []string{"9:05:00.0000000001"}, "text",
			"the seconds have 10 digits after the decimal point, more than nanoseconds"},
		{"booleans", herb.Field{Type: herb.TypeBoolean}, []string{"yes", "No", ""}, "boolean", ""},
		{"lists", herb.Field{Type: herb.TypeList}, []string{"a, b", ""}, "list(text)", ""},
		{"text", herb.Field{Type: herb.TypeText}, []string{"1", ""}, "text", ""},
		{"not valid", herb.Field{Type: herb.TypeNumber}, []string{"1", "x"}, "text",
			"some values are not valid for the type number"},
	} {
		c := columnOf(&tt.field, tt.values...)
		if c.String() != tt.want || c.Reason != tt.reason || c.IsTyped() != (tt.reason == "") {
			t.Errorf("%s: %s, %q; want %s, %q", tt.name, c, c.Reason, tt.want, tt.reason)
		}
		slices.Reverse(tt.values)
		if again := columnOf(&tt.field, tt.values...); again != c {
			t.Errorf("%s: in reverse order, the column is %+v instead of %+v", tt.name, again, c)
		}
	}
}

func TestColumn_AppendJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		field  herb.Field
		values []string
		want   string
	}{
		{herb.Field{Type: herb.TypeNumber}, []string{"1", "", "-9223372036854775808"}, `[1,null,-9223372036854775808]`},
		{herb.Field{Type: herb.TypeNumber}, []string{"1.50", "-0", ".5", "3.", "1e3"}, `[1.50,-0,0.5,3,1000]`},
		{herb.Field{Type: herb.TypeNumber, Notation: herb.Notation{Decimal: ",", Group: ".", Affix: "€", Padded: true,
			Missing: []string{"NA"}}},
			[]string{"1.234,50 €", "NA", "-€ 007"}, `[1234.50,null,-7]`},
		{herb.Field{Type: herb.TypeNumber}, []string{"1e30", "0.30000000000000005"}, `["1e30","0.30000000000000005"]`},
		{herb.Field{Type: herb.TypeNumber}, []string{strings.Repeat("9", 39), ""},
			`["` + strings.Repeat("9", 39) + `",null]`},
		{herb.Field{Type: herb.TypeDuration}, []string{"1:20:00", "90 min", ""}, `[4800,5400,null]`},
		{herb.Field{Type: herb.TypeDate, Notation: herb.Notation{DateFormat: "%d.%m.%Y"}}, []string{"29.2.2024", ""},
			`["2024-02-29",null]`},
		{herb.Field{Type: herb.TypeDateTime}, []string{"2024-02-29T13:30:00.120+05:30", "2024-02-29 00:00Z"},
			`["2024-02-29T08:00:00.12Z","2024-02-29T00:00:00Z"]`},
		{herb.Field{Type: herb.TypeDateTime}, []string{"2024-02-29 13:30", "2024-10-10"},
			`["2024-02-29T13:30:00","2024-10-10T00:00:00"]`},
		{herb.Field{Type: herb.TypeDateTime}, []string{"2024-02-29 13:30", "2024-10-10 00:00Z"},
			`["2024-02-29 13:30","2024-10-10 00:00Z"]`},
		{herb.Field{Type: herb.TypeTime}, []string{"9:05 pm", "9:05:00.50"}, `["21:05:00","09:05:00.5"]`},
		{herb.Field{Type: herb.TypeBoolean, Notation: herb.Notation{True: []string{"ja"}, False: []string{"nein"}}},
			[]string{"ja", "nein", ""}, `[true,false,null]`},
		{herb.Field{Type: herb.TypeList}, []string{`a, "b"`, " ", ""}, `[["a","\"b\""],[],null]`},
		{herb.Field{Type: herb.TypeList, Notation: herb.Notation{JSON: true}}, []string{`["a,b",null,1]`, "[]"},
			`[["a,b","1"],[]]`},
		{herb.Field{Type: herb.TypeText}, []string{"007", "a\nb", "", " "}, `["007","a\nb",null," "]`},
	} {
		c, got := columnOf(&tt.field, tt.values...), []byte{'['}
		for i, v := range tt.values {
			if i > 0 {
				got = append(got, ',')
			}
			got = c.AppendJSON(got, &tt.field, v)
		}
		got = append(got, ']')
		if string(got) != tt.want || !json.Valid(got) {
			t.Errorf("%s %q: %s, want %s", tt.field.Type, tt.values, got, tt.want)
		}
	}
}

// TestOf_numbers compares the types of columns of random numbers with the definitions of the types:
// every number is the same after it was read as a value of the type.
func TestOf_numbers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(testseed.Seed(t), 0))
	field := herb.Field{Type: herb.TypeNumber}
	for range 2000 {
		values := make([]string, 1+random.IntN(3))
		for i := range values {
			values[i] = randomNumber(random)
		}
		c := columnOf(&field, values...)
		for _, v := range values {
			want, _ := new(big.Rat).SetString(v)
			if got := read(c, v); (got == nil || got.Cmp(want) != 0) && c.Kind != typed.Text {
				t.Fatalf("%q of %q is %v as %s", v, values, got, c)
			}
			if c.Kind == typed.Text && c.Reason == "" {
				t.Fatalf("%q are text without a reason", values)
			}
		}
		decimals := slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, ".") })
		isInt := !slices.ContainsFunc(values,
			func(v string) bool { _, err := strconv.ParseInt(v, 10, 64); return err != nil })
		isDouble := !slices.ContainsFunc(values,
			func(v string) bool { return read(typed.Column{Kind: typed.Double}, v) == nil })
		if c.Kind == typed.Text && isDouble || isInt && !decimals && c.Kind != typed.Int64 {
			t.Fatalf("%q are %s", values, c)
		}
	}
}

func randomNumber(random *rand.Rand) string {
	if random.IntN(4) == 0 {
		return strconv.FormatFloat(random.NormFloat64(), 'f', -1, 64)
	}
	digits := func(most int) string {
		b := []byte{byte('1' + random.IntN(9))}
		for range random.IntN(most) {
			b = append(b, byte('0'+random.IntN(10)))
		}
		return string(b)
	}
	s := digits(24)
	if random.IntN(2) == 0 {
		s += "." + digits(24)
	}
	if random.IntN(2) == 0 {
		s = "-" + s
	}
	return s
}

// read reads a number as a value of a type and returns what it is then; nil if it is not exact.
func read(c typed.Column, v string) *big.Rat {
	exact, _ := new(big.Rat).SetString(v)
	switch c.Kind {
	case typed.Int64:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil
		}
		return new(big.Rat).SetInt64(n)
	case typed.Decimal:
		scaled := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Scale)), nil)
		unscaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt(scaled))
		if !unscaled.IsInt() || len(strings.TrimPrefix(unscaled.Num().String(), "-")) > c.Precision ||
			c.Precision > typed.MaxPrecision {
			return nil
		}
		return unscaled.Quo(unscaled, new(big.Rat).SetInt(scaled))
	case typed.Double:
		d, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil
		}
		shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(d, 'f', -1, 64))
		if shortest.Cmp(exact) != 0 {
			return nil
		}
		return shortest
	}
	return nil
}

// FuzzColumn_AppendJSON checks that typed JSON is valid JSON whatever the values.
func FuzzColumn_AppendJSON(f *testing.F) {
	f.Add("1.5", "-", "%d", uint8(1))
	f.Add("24:00", "1e-400", "", uint8(4))
	f.Fuzz(func(t *testing.T, a, b, affix string, kind uint8) {
		field := herb.Field{Type: herb.Types()[int(kind)%len(herb.Types())],
			Notation: herb.Notation{Affix: affix, JSON: kind > 100, Padded: kind > 50}}
		c := columnOf(&field, a, b)
		for _, v := range []string{a, b} {
			v = strings.ToValidUTF8(v, "")
			if !json.Valid(c.AppendJSON(nil, &field, v)) {
				t.Errorf("%q of %s: %s", v, c, c.AppendJSON(nil, &field, v))
			}
		}
		if encoded := c.AppendJSON(nil, &field, ""); !bytes.Equal(encoded, []byte("null")) {
			t.Errorf("a missing value is %s", encoded)
		}
	})
}

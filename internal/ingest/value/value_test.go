package value_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/value"
	"herbarium/internal/text"
)

type result struct {
	herb.Field
	Report herb.ColumnReport
}

// profileOf profiles a column of values separated by "|".
func profileOf(t *testing.T, values, name string, fileType herb.Type, schema value.Schema) (r result, err error) {
	t.Helper()
	s := value.NewProfiler()
	f, err := s.Field(0, schema)
	if err != nil {
		return r, err
	}
	row := 0
	for v := range strings.SplitSeq(values, "|") {
		row++
		s.Observe([][]byte{[]byte(v)}, func() string { return fmt.Sprint("row ", row) })
	}
	r.Field, r.Report, err = f.Result(name, fileType)
	return r, err
}

// numbersTo returns the numbers from 1 to n, each followed by "|".
func numbersTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d|", i+1)
	}
	return b.String()
}

// digits returns n digits.
func digits(n int) string { return strings.Repeat("7", n) }

func TestInfer(t *testing.T) {
	t.Parallel()
	format := func(s string) herb.Notation { return herb.Notation{DateFormat: s} }
	for _, tt := range []struct {
		name, values string
		want         herb.Type
		notation     herb.Notation
		evidence     string // part of it
	}{
		{"integers", "1|22|-3", herb.TypeNumber, herb.Notation{}, "3 of 3"},
		{"groups of two digits", "1,42,782|42,782|900|12,34,567.50", herb.TypeNumber, herb.Notation{Group: ","},
			"thousands separated by"},
		{"groups of two and of three digits", "1,42,782|900|1,234,567", herb.TypeText, herb.Notation{},
			`"1,234,567" (row 3) is not a number in the notation of the others`},
		{"groups of three and of two digits", "1,234,567|900|1,42,782", herb.TypeText, herb.Notation{},
			`"1,42,782" (row 3) is not a number in the notation of the others`},
		{"only groups of two digits", "1,42,782|3,15,240", herb.TypeText, herb.Notation{},
			"commas may separate digits as in India, or several numbers"},
		{"groups of two digits at the end", "1,42|900", herb.TypeNumber, herb.Notation{Decimal: ","}, ""},
		{"several numbers", "1,2,3|4,42,782", herb.TypeText, herb.Notation{}, ""},
		{"points without decimals", "34.|34.5|-7.|+8.", herb.TypeNumber, herb.Notation{}, "4 of 4"},
		{"points after groups", "1,234.|34.5", herb.TypeNumber, herb.Notation{Group: ","}, ""},
		{"signed degrees", "+034.5|-005.25|+000.125|-117.75|12.5", herb.TypeNumber,
			herb.Notation{Padded: true}, "5 of 5"},
		{"signed degrees of three decimals", "+034.500|-005.250|160", herb.TypeNumber, herb.Notation{Padded: true}, ""},
		{"signed degrees and a code", "+034.5|-005.25|00501", herb.TypeText, herb.Notation{},
			`"00501" (row 3) is not a number`},
		{"zeros without a sign", "034.5|005.25", herb.TypeText, herb.Notation{}, ""},
		{"zeros without decimals", "+034|-005", herb.TypeText, herb.Notation{}, ""},
		{"signed zeros", "+000|-0000", herb.TypeText, herb.Notation{}, ""},
		{"signed degrees and a decimal comma", "+034.5|12,5", herb.TypeText, herb.Notation{},
			`"12,5" (row 2) is not a number in the notation of the others`},
		{"Eurostat's missing values", "1.5|2|:|: c|:  bp", herb.TypeNumber,
			herb.Notation{Missing: []string{":", ":  bp", ": c"}}, "3 missing"},
		{"colons before other letters", "1.5|2|: x", herb.TypeText, herb.Notation{}, `": x" (row 3) is not a number`},
		{"decimals", "1.5|2|-0.25", herb.TypeNumber, herb.Notation{}, ""},
		{"a colon for missing numbers", "1.5|:|2.25", herb.TypeNumber, herb.Notation{Missing: []string{":"}},
			"1 missing (:: 1)"},
		{"zeros for missing dates", "2024-02-29|0000-00-00", herb.TypeDate,
			herb.Notation{Missing: []string{"0000-00-00"}}, ""},
		{"zeros for missing datetimes", "2024-02-29 10:00:00|0000-00-00 00:00:00", herb.TypeDateTime,
			herb.Notation{Missing: []string{"0000-00-00 00:00:00"}}, ""},
		{"empty values", "1||3", herb.TypeNumber, herb.Notation{}, "1 empty"},
		{"as many digits as possible", digits(1000) + "|0." + digits(999) + "|-" + digits(1000), herb.TypeNumber,
			herb.Notation{}, ""},
		{"too many digits", "1|2|" + digits(1001), herb.TypeText, herb.Notation{}, "is not a number"},
		{"too many decimals", "1|2|0." + digits(1000), herb.TypeText, herb.Notation{}, "is not a number"},
		{"too many digits in another notation", "1,5|2,5|" + digits(1000) + ",5", herb.TypeText, herb.Notation{}, ""},
		{"exponent with too many digits", "1.5|2|" + digits(700) + "e400", herb.TypeText, herb.Notation{},
			"is not a number"},
		{"large exponent", "1.5|2|1e999999", herb.TypeText, herb.Notation{}, "is not a number"},
		{"signs and bare points", "+3|.5|-.5", herb.TypeNumber, herb.Notation{}, ""},
		{"blanks around", " 1|2 | 3 |\u00a04", herb.TypeNumber, herb.Notation{}, ""},
		{"blank value", "$1|  |$3", herb.TypeNumber, herb.Notation{Affix: "$"}, "1 missing (blank: 1); with $"},
		{"leading zeros", "00042|17", herb.TypeText, herb.Notation{}, `"00042" (row 1)`},
		{"leading zeros later", "17|00042", herb.TypeText, herb.Notation{}, `"00042" (row 2)`},
		{"exponent beside a plain number", "4e+06|9900", herb.TypeNumber, herb.Notation{}, ""},
		{"exponent with a point", "1.5e3|2e3", herb.TypeNumber, herb.Notation{}, ""},
		{"exponent with a sign", "4e+06", herb.TypeNumber, herb.Notation{}, ""},
		{"codes with an e", "1e5|2e7", herb.TypeText, herb.Notation{}, "1e5"},
		{"exponent out of range", "1.5|1e999", herb.TypeText, herb.Notation{}, ""},
		{"accounting", "(1,234.50)|12.00|(5.00)", herb.TypeNumber, herb.Notation{Group: ","}, ""},
		{"dollars in accounting", "($1,234.50)|$12.00", herb.TypeNumber, herb.Notation{Group: ",", Affix: "$"}, ""},
		{"minus signs at the end", "123.50-|7.25|1000-", herb.TypeNumber, herb.Notation{}, ""},
		{"only parentheses", "(1)|(2)|(3)", herb.TypeText, herb.Notation{}, "which may not mean negative numbers"},
		{"two signs", "(-1)|2", herb.TypeText, herb.Notation{}, ""},
		{"codes of currencies", "EUR 5.50|EUR 12.00|-EUR 3.25", herb.TypeNumber, herb.Notation{Affix: "EUR"},
			"with EUR"},
		{"codes of currencies at the end", "5,50 EUR|12,00 EUR", herb.TypeNumber,
			herb.Notation{Decimal: ",", Affix: "EUR"}, ""},
		{"two codes of currencies", "EUR 5.50|USD 12.00", herb.TypeText, herb.Notation{}, ""},
		{"flights", "KLM 550|KLM 1200", herb.TypeText, herb.Notation{}, ""},
		{"phone numbers with a plus sign", "+4917612345678|+493012345678", herb.TypeText, herb.Notation{}, ""},
		{"phone numbers with blanks", "+49 176 123 456|+49 176 654 321", herb.TypeText, herb.Notation{}, ""},
		{"formulas that keep zeros", `="00123"|="00124"`, herb.TypeText, herb.Notation{}, ""},
		{"exponents among plain integers", "1001|12E5|3003", herb.TypeNumber, herb.Notation{}, ""},
		{"dashes and abbreviations", "1|2|–|—|n.a.|k. A.", herb.TypeNumber,
			herb.Notation{Missing: []string{"k. A.", "n.a.", "–", "—"}}, "4 missing"},
		{"errors of workbooks", "1|2|#DIV/0!|#REF!", herb.TypeNumber,
			herb.Notation{Missing: []string{"#DIV/0!", "#REF!"}}, ""},
		{"thousands and decimals", "1,234.50|12.00", herb.TypeNumber, herb.Notation{Group: ","}, `","`},
		{"millions", "1,234,567|8,900", herb.TypeNumber, herb.Notation{Group: ","}, ""},
		{"thousands beside hundreds", "1,234|567|8,900", herb.TypeNumber, herb.Notation{Group: ","}, ""},
		{"three digits after every comma", "1,234|5,678", herb.TypeText, herb.Notation{}, "comma"},
		{"three digits after every comma of dollars", "$65,548 |$34,100 ", herb.TypeNumber,
			herb.Notation{Group: ",", Affix: "$"}, ""},
		{"three digits after every comma of euros", "1,459 €|1,519 €", herb.TypeText, herb.Notation{}, "comma"},
		{"decimal comma", "12,5|3|0,25", herb.TypeNumber, herb.Notation{Decimal: ","}, ""},
		{"points between thousands", "1.234,50|999,00", herb.TypeNumber, herb.Notation{Group: ".", Decimal: ","}, ""},
		{"points only", "1.234.567|1.234", herb.TypeNumber, herb.Notation{Group: ".", Decimal: ","}, ""},
		{"point is decimal", "1.234|2.345", herb.TypeNumber, herb.Notation{}, ""},
		{"point with two meanings", "1.485|78.746|160", herb.TypeText, herb.Notation{},
			`a point may separate thousands or decimals; declare the type number with groupChar "." and decimalChar "," if it separates thousands, with decimalChar "." if decimals`},
		{"point with two meanings beside a sign", "€ 1.485|€ 160", herb.TypeText, herb.Notation{},
			"a point may separate"},
		{"three decimals beside integers", "0.485|78.746|160", herb.TypeNumber, herb.Notation{}, ""},
		{"four digits before a point", "1485.125|78.746|160", herb.TypeNumber, herb.Notation{}, ""},
		{"long integers beside three decimals", "1.485|78.746|160|12345", herb.TypeNumber, herb.Notation{}, ""},
		{"blanks between thousands", "1 234|5 678 901", herb.TypeNumber, herb.Notation{Group: " "}, ""},
		{"no-break spaces and decimal comma", "1\u00a0234,5|2", herb.TypeNumber,
			herb.Notation{Group: " ", Decimal: ","}, ""},
		{"apostrophes", "1'234.5|2", herb.TypeNumber, herb.Notation{Group: "'"}, ""},
		{"decimal point and decimal comma", "1.5|2,5", herb.TypeText, herb.Notation{}, ""},
		{"both separators in both roles", "1,234.5|1.234,5", herb.TypeText, herb.Notation{}, ""},
		{"pounds", "£40,637.00|£1.50|-£2", herb.TypeNumber, herb.Notation{Group: ",", Affix: "£"}, "£"},
		{"trailing euros", "12,50 €|3 €", herb.TypeNumber, herb.Notation{Decimal: ",", Affix: "€"}, ""},
		{"reais", "R$ 1.234,50|R$ 2,00", herb.TypeNumber, herb.Notation{Group: ".", Decimal: ",", Affix: "R$"}, ""},
		{"two currencies", "£5|$5", herb.TypeText, herb.Notation{}, ""},
		{"currency on some", "£5|5", herb.TypeText, herb.Notation{}, "£"},
		{"percent", "5%|12.5%", herb.TypeNumber, herb.Notation{Affix: "%"}, ""},
		{"percent on some", "5%|12.5", herb.TypeText, herb.Notation{}, "%"},
		{"markers in numbers", "1|NA|3|NaN|..", herb.TypeNumber, herb.Notation{Missing: []string{"..", "NA", "NaN"}},
			"3 missing (NA: 1, NaN: 1, ..: 1)"},
		{"markers first", "NA|NA|7", herb.TypeNumber, herb.Notation{Missing: []string{"NA"}}, ""},
		{"signs for missing values", `1|NA|n/a|null|None|NaN|?|\N|#N/A`, herb.TypeNumber,
			herb.Notation{Missing: []string{"#N/A", "?", "NA", "NaN", "None", `\N`, "n/a", "null"}}, ""},
		{"runs of signs", "1|-|*|***|.|.....|--|?", herb.TypeNumber,
			herb.Notation{Missing: []string{"*", "***", "-", "--", ".", ".....", "?"}}, "*: 1"},
		{"signs with counts", "1|-|-|n/a|-", herb.TypeNumber, herb.Notation{Missing: []string{"-", "n/a"}},
			"4 missing (-: 3, n/a: 1)"},
		{"too many kinds of signs", "1|2|3|NA|N/A|n/a|na|null|NULL|None|NaN|nan|none", herb.TypeText, herb.Notation{},
			`2 values are not numbers, the first "nan" (row 12), "none" (row 13)`},
		{"signs in dates", "2024-02-29|*|n/a", herb.TypeDate, herb.Notation{Missing: []string{"*", "n/a"}}, ""},
		{"mixed characters are no sign", "1|2|-.", herb.TypeText, herb.Notation{}, `"-." (row 3) is not a number`},
		{"few words", numbersTo(198) + "unknown|no date", herb.TypeNumber,
			herb.Notation{Missing: []string{"no date", "unknown"}}, "2 exceptions (unknown: 1, no date: 1)"},
		{"few words in dates", strings.Repeat("31/12/2024|", 99) + "no date", herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y", Missing: []string{"no date"}}, "no date: 1"},
		{"few words in booleans", strings.Repeat("yes|no|", 50) + "maybe", herb.TypeBoolean,
			herb.Notation{Missing: []string{"maybe"}}, ""},
		{"few words beside signs", numbersTo(99) + "-|-|-|x", herb.TypeNumber,
			herb.Notation{Missing: []string{"-", "x"}}, "3 missing (-: 3); 1 exception (x: 1)"},
		{"a value with digits is no word", numbersTo(1000) + "12a", herb.TypeText, herb.Notation{},
			`"12a" (row 1001) is not a number`},
		{"a code is no word", numbersTo(1000) + "007", herb.TypeText, herb.Notation{},
			`"007" (row 1001) is not a number`},
		{"text in dates", "2024-02-29|2024-03-01|Friday", herb.TypeText, herb.Notation{},
			`"Friday" (row 3) is not a date`},
		{"text in other dates", "31/12/2024|30/12/2024|Friday|Monday", herb.TypeText, herb.Notation{},
			`2 values are not dates, the first "Friday" (row 3), "Monday" (row 4)`},
		{"text in booleans", "yes|no|perhaps", herb.TypeText, herb.Notation{}, `"perhaps" (row 3) is not a boolean`},
		{"text before booleans", "a|b|c|yes|no|yes", herb.TypeText, herb.Notation{},
			`3 values are not booleans, the first "a" (row 1)`},
		{"sexes are no booleans", "F|F|M", herb.TypeText, herb.Notation{}, "text: 3 of 3"},
		{"text before numbers", "a|b|c|" + numbersTo(3), herb.TypeText, herb.Notation{},
			`3 values are not numbers, the first "a" (row 1), "b" (row 2), "c" (row 3)`},
		{"another decimal sign", "1,5|2,5|3.25", herb.TypeText, herb.Notation{},
			`"3.25" (row 3) is not a number in the notation of the others`},
		{"markers only", "NA|NA", herb.TypeText, herb.Notation{}, ""},
		{"markers in text", "a|NA", herb.TypeText, herb.Notation{}, ""},
		{"infinity", "1.5|Inf", herb.TypeText, herb.Notation{}, `"Inf" (row 2) is not a finite number`},
		{"first misfit", "1|2|3|x|y", herb.TypeText, herb.Notation{}, `"x" (row 4)`},
		{"ISO dates", "2024-02-29|2023-01-01", herb.TypeDate, herb.Notation{}, ""},
		{"impossible day", "2023-02-29|2023-01-01", herb.TypeText, herb.Notation{}, ""},
		{"day first", "1/2/2024|31/12/2024", herb.TypeDate, format("%d/%m/%Y"), "%d/%m/%Y"},
		{"month first", "1/2/2024|12/31/2024|NA", herb.TypeDate,
			herb.Notation{DateFormat: "%m/%d/%Y", Missing: []string{"NA"}}, ""},
		{"ambiguous dates", "1/2/2024|3/4/2024", herb.TypeText, herb.Notation{}, "ambiguous"},
		{"contradictory dates", "31/12/2024|12/31/2024", herb.TypeText, herb.Notation{}, ""},
		{"days first with points", "1.11.2021|3.4.2021", herb.TypeDate, format("%d.%m.%Y"), ""},
		{"months first with points", "1.11.2021|3.14.2021", herb.TypeDate, format("%m.%d.%Y"), ""},
		{"dates with points", "31.12.2024|1.1.2025", herb.TypeDate, format("%d.%m.%Y"), ""},
		{"year first", "2024/2/9|2024/12/31", herb.TypeDate, format("%Y/%m/%d"), ""},
		{"missing zeros", "2024-2-9|2024-12-31", herb.TypeDate, format("%Y-%m-%d"), ""},
		{"names of months", "1 Feb 2024|29 February 2024", herb.TypeDate, format("%d %b %Y"), ""},
		{"two digits of a year", "1/22/20|2/3/99", herb.TypeDate, format("%m/%d/%y"), ""},
		{"ambiguous century", "1/22/20|2/3/45", herb.TypeText, herb.Notation{}, "years"},
		{"points and two digits of a year", "01.02.24|31.12.24", herb.TypeDate, format("%d.%m.%y"), ""},
		{"versions like dates", "1.2.24|31.12.24", herb.TypeText, herb.Notation{}, ""},
		{"days of the week", "Sat Aug 15 1992|Sun Aug 16 1992", herb.TypeDate, format("%b %d %Y"), ""},
		{"days of the week with commas, and without", "Friday, April 29, 2022|Sunday, May 1, 2022|May 2, 2022",
			herb.TypeDate, format("%b %d, %Y"), ""},
		{"months", "2024-01|2024-12||NA", herb.TypeDate, herb.Notation{DateFormat: "%Y-%m", Missing: []string{"NA"}},
			"written %Y-%m"},
		{"months before years", "01/2024|12/2024", herb.TypeDate, format("%m/%Y"), ""},
		{"names of months and years", "January 2024|May 2024|Sep 2024", herb.TypeDate, format("%b %Y"), ""},
		{"years before names of months", "2024 JAN|2024 FEB", herb.TypeDate, format("%Y %b"), ""},
		{"names of months as workbooks write them", "Jan-24|May-99", herb.TypeDate, format("%b-%y"), ""},
		{"names of months in unknown centuries", "Jan-24|May-45", herb.TypeText, herb.Notation{},
			"years of two digits from 30 to 68 are ambiguous"},
		{"months of statistical offices", "2023M01|2023M12", herb.TypeDate, format("%YM%m"), ""},
		{"quarters", "2024Q1|2024Q4", herb.TypeDate, format("%YQ%q"), ""},
		{"quarters with hyphens", "2024-Q1|2024-Q4", herb.TypeDate, format("%Y-Q%q"), ""},
		{"quarters before years", "Q1 2024|Q4 2024", herb.TypeDate, format("Q%q %Y"), ""},
		{"weeks", "2024-W05|2020-W53", herb.TypeDate, format("%G-W%V"), ""},
		{"weeks that do not exist", "2024-W05|2024-W53", herb.TypeText, herb.Notation{},
			`"2024-W53" (row 2) is not a date`},
		{"quarters that do not exist", "2024Q1|2024Q5", herb.TypeText, herb.Notation{},
			`"2024Q5" (row 2) is not a date`},
		{"consecutive years", "2009-10|2010-11|2011-12", herb.TypeText, herb.Notation{}, "may be months or two years"},
		{"months of one digit", "2024-1|2024-2", herb.TypeText, herb.Notation{}, ""},
		{"months and days", "2024-01|2024-01-15", herb.TypeText, herb.Notation{},
			`"2024-01-15" (row 2) is not a date in the notation of the others`},
		{"days and months", "2024-01-15|2024-02", herb.TypeText, herb.Notation{},
			`"2024-02" (row 2) is not a date in the notation of the others`},
		{"months in two notations", "2024-01|2023M02", herb.TypeText, herb.Notation{}, "in the notation of the others"},
		{"times without separators", "20141013T000000|20150225T235959", herb.TypeDateTime, format("%Y%m%dT%H%M%S"), ""},
		{"times without separators after a blank", "20110103 090100|20110104 235959", herb.TypeDateTime,
			format("%Y%m%d %H%M%S"), ""},
		{"times without separators in two notations", "20110103 090100|20110104T235959", herb.TypeText, herb.Notation{},
			`"20110104T235959" (row 2) is not a date in the notation of the others`},
		{"digits around a blank", "2011013 090100|20110104 23595", herb.TypeText, herb.Notation{}, ""},
		{"dates of mails", "Tue, 19 Apr 2022 10:00:00 +0200|Wed, 4 May 2022 9:30:00 GMT", herb.TypeDateTime,
			format("%d %b %Y %H:%M:%S %z"), ""},
		{"points after all parts", "2019.04.19.|2019.12.31.", herb.TypeDate, format("%Y.%m.%d."), ""},
		{"points and blanks after all parts", "2019. 04. 19.|2019. 12. 31.", herb.TypeDate, format("%Y. %m. %d."), ""},
		{"names of months and two digits of a year", "10 Feb 18|1 March 2019", herb.TypeDate,
			format("%d %b %Y|%d %b %y"), ""},
		{"another notation with a time", "31/12/2024 10:00|30/12/2024 9:05", herb.TypeDateTime,
			format("%d/%m/%Y %H:%M"), ""},
		{"two digits of a year with a time", "1/26/20 11:00|1/26/20 7:05", herb.TypeDateTime,
			format("%m/%d/%y %H:%M"), ""},
		{"AM and PM", "5/14/2009 6:01:24 PM|5/15/2009 12:00:00 AM", herb.TypeDateTime,
			format("%m/%d/%Y %I:%M:%S %p"), ""},
		{"AM without a blank", "May 14, 2009, 6:01pm|May 15, 2009, 11:59am", herb.TypeDateTime,
			format("%b %d, %Y, %I:%M%p"), ""},
		{"seconds on some", "31.12.2024 10:00|30.12.2024 11:00:30", herb.TypeDateTime,
			format("%d.%m.%Y %H:%M|%d.%m.%Y %H:%M:%S"), ""},
		{"zones after times", "31/12/2024 10:00 +01:00|30/12/2024 10:00 UTC", herb.TypeDateTime,
			format("%d/%m/%Y %H:%M %z"), ""},
		{"zones after some times", "31/12/2024 10:00 +01:00|30/12/2024 10:00", herb.TypeText, herb.Notation{}, "zone"},
		{"hours without zeros", "2024-12-31 10:00|2024-12-31 9:05", herb.TypeDateTime, format("%Y-%m-%d %H:%M"), ""},
		{"hours without zeros first", "2024-12-31 9:05|2024-12-31 10:00", herb.TypeDateTime,
			format("%Y-%m-%d %H:%M"), ""},
		{"ambiguous days with a time", "1/2/2024 10:00|3/4/2024 11:00", herb.TypeText, herb.Notation{}, "ambiguous"},
		{"12 and 24 hours", "31/12/2024 10:00 PM|31/12/2024 22:00", herb.TypeText, herb.Notation{},
			`"31/12/2024 22:00" (row 2) is not a date in the notation`},
		{"no hour", "31/12/2024 24:00|31/12/2024 10:00", herb.TypeText, herb.Notation{}, `"31/12/2024 24:00" (row 1)`},
		{"no hour before PM", "12/31/2024 13:00 PM|12/31/2024 10:00 PM", herb.TypeText, herb.Notation{},
			`"12/31/2024 13:00 PM" (row 1)`},
		{"times on some", "31/12/2024 10:00|30/12/2024", herb.TypeText, herb.Notation{},
			"some dates have a time of day and some have none"},
		{"two and four digits of a year", "1/15/18|5/16/2014", herb.TypeDate, format("%m/%d/%Y|%m/%d/%y"),
			"written %m/%d/%Y or %m/%d/%y"},
		{"two and four digits of a year with a time", "1/15/18 7:30|5/16/2014 10:00", herb.TypeDateTime,
			format("%m/%d/%Y %H:%M|%m/%d/%y %H:%M"), ""},
		{"two and four digits of a year in two orders", "1/15/18|16/5/2014", herb.TypeText, herb.Notation{},
			`"16/5/2014" (row 2) is not a date in the notation of the others`},
		{"versions", "1.2.34|1.13.4", herb.TypeText, herb.Notation{}, ""},
		{"datetimes", "2024-02-29T10:00:00Z|2024-02-29T10:00:00.5+01:00", herb.TypeDateTime, herb.Notation{}, ""},
		{"datetimes with a blank", "2024-02-29 10:00|2024-02-29 10:00:01", herb.TypeDateTime, herb.Notation{}, ""},
		{"dates among datetimes", "2024-02-29|2024-02-29 10:00", herb.TypeDateTime, herb.Notation{}, ""},
		{"zones on some", "2024-02-29T10:00|2024-02-29T10:00Z", herb.TypeText, herb.Notation{}, "zone"},
		{"ISO and other dates", "2024-02-29|31/12/2024", herb.TypeText, herb.Notation{},
			`"31/12/2024" (row 2) is not a date in the notation of the others`},
		{"booleans", "true|FALSE|True", herb.TypeBoolean, herb.Notation{}, ""},
		{"only true", "true|true", herb.TypeBoolean, herb.Notation{}, ""},
		{"yes and no", "Yes|no|NA", herb.TypeBoolean, herb.Notation{Missing: []string{"NA"}}, ""},
		{"letters", "Y|N|y", herb.TypeBoolean, herb.Notation{}, ""},
		{"one letter", "F|F", herb.TypeText, herb.Notation{}, ""},
		{"two pairs", "t|no", herb.TypeText, herb.Notation{}, ""},
		{"digits are numbers", "0|1", herb.TypeNumber, herb.Notation{}, ""},
		{"elements that recur", strings.Repeat("red,green|green,blue|red,blue|", 5) + "red", herb.TypeText,
			herb.Notation{}, ""},
		{"JSON arrays", `["a","b, c"]|["a"]||[]|["d",1,null]`, herb.TypeList, herb.Notation{JSON: true}, "JSON arrays"},
		{"JSON arrays of numbers", `[1,2]|[3,4]`, herb.TypeText, herb.Notation{}, ""},
		{"JSON arrays beside text", `["a"]|b`, herb.TypeText, herb.Notation{}, ""},
		{"nested JSON arrays", `["a"]|[["b"]]`, herb.TypeText, herb.Notation{}, ""},
		{"damaged JSON arrays", `["a"]|["b"`, herb.TypeText, herb.Notation{}, ""},
		{"one word of two", "F|F", herb.TypeText, herb.Notation{}, "only one of two words"},
		{"URLs", "https://a.example/x|http://b.example", herb.TypeText, herb.Notation{}, "URLs"},
		{"no values", "||", herb.TypeText, herb.Notation{}, "no values"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, "c", "", value.Schema{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.notation, r.Notation, cmpopts.EquateEmpty()); r.Type != tt.want || diff != "" {
				t.Errorf("%s (%s); want %s, notation (-want +got):\n%s", r.Type, r.Report.Evidence, tt.want, diff)
			}
			if !strings.Contains(r.Report.Evidence, tt.evidence) {
				t.Errorf("evidence %q; want %q", r.Report.Evidence, tt.evidence)
			}
			f := herb.Field{Type: r.Type, Notation: r.Notation}
			for v := range strings.SplitSeq(tt.values, "|") {
				if _, status := text.Canonical(&f, v); status == text.Invalid {
					t.Errorf("%q has no canonical form", v)
				}
			}
		})
	}
}

// TestInfer_thousands checks that a point separates thousands if decimals would have kept the zeros
// of some values and not of others.
func TestInfer_thousands(t *testing.T) {
	t.Parallel()
	integers := strings.Repeat("379|", 10)
	for _, tt := range []struct {
		name, values string
		want         herb.Type
		notation     herb.Notation
	}{
		{"a zero", integers + "1.230|2.003", herb.TypeNumber, herb.Notation{Group: ".", Decimal: ","}},
		{"no zero", integers + "1.233|2.003", herb.TypeText, herb.Notation{}},
		{"few integers", "379|1.230|2.003", herb.TypeText, herb.Notation{}},
		{"two decimals", integers + "1.230|2.03", herb.TypeNumber, herb.Notation{}},
		{"a fraction", integers + "0.230|2.030", herb.TypeNumber, herb.Notation{}},
		{"a large integer", integers + "1.230|12345", herb.TypeNumber, herb.Notation{}},
		{"no integer", strings.Repeat("1.230|", 20), herb.TypeNumber, herb.Notation{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, strings.TrimSuffix(tt.values, "|"), "c", "", value.Schema{})
			if diff := cmp.Diff(tt.notation, r.Notation, cmpopts.EquateEmpty()); err != nil || r.Type != tt.want ||
				diff != "" {
				t.Errorf("%v, %s: %s\n%s", err, r.Type, r.Report.Evidence, diff)
			}
		})
	}
}

// TestInfer_names checks that names decide between readings: coordinates have no thousands, and
// results of games are not times.
func TestInfer_names(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, values string
		want         herb.Type
		notation     herb.Notation
	}{
		{"tags", "red,green|blue| |green", herb.TypeList, herb.Notation{}},
		{"Keywords", "red, green|blue", herb.TypeList, herb.Notation{}},
		{"tags", `["a"]|["b, c"]`, herb.TypeList, herb.Notation{JSON: true}},
		{"tags", `["a"]|b`, herb.TypeText, herb.Notation{}},
		{"labels", "Acme, Inc.|Sales", herb.TypeText, herb.Notation{}},
		{"labels", "Inc., Ltd|Sales", herb.TypeText, herb.Notation{}},
		{"topics", "per 100,000 adults|rates", herb.TypeText, herb.Notation{}},
		{"tags", `"a"=>"1", "b"=>"2"|"c"=>"3"`, herb.TypeText, herb.Notation{}},
		{"decimalLatitude", "48.137|9.512|50", herb.TypeNumber, herb.Notation{}},
		{"stop_lon", "48.137|9.512|50", herb.TypeNumber, herb.Notation{}},
		{"Länge", "48.137|9.512|50", herb.TypeText, herb.Notation{}},
		{"lat", "48,137|9,512", herb.TypeText, herb.Notation{}},
		{"score", "21:19|3:15|1:10", herb.TypeText, herb.Notation{}},
		{"Final result", "21:19|3:15|1:10", herb.TypeText, herb.Notation{}},
		{"score", "09:30:00|10:15:00", herb.TypeTime, herb.Notation{}},
		{"result_time", "21:19|3:15|1:10", herb.TypeTime, herb.Notation{}},
		{"at", "21:19|3:15|1:10", herb.TypeTime, herb.Notation{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, tt.name, "", value.Schema{})
			if diff := cmp.Diff(tt.notation, r.Notation, cmpopts.EquateEmpty()); err != nil || r.Type != tt.want ||
				diff != "" {
				t.Errorf("%v, %s: %s\n%s", err, r.Type, r.Report.Evidence, diff)
			}
		})
	}
}

// TestInfer_coordinates checks that decimal commas in another column do not make thousands of
// coordinates.
func TestInfer_coordinates(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]herb.Notation{"lat": {}, "Longitude": {},
		"altitude": {Group: ".", Decimal: ","}} {
		p := value.NewProfiler()
		for _, v := range []string{"48.137", "9.512", "50"} {
			p.Observe([][]byte{[]byte("12,5"), []byte(v)}, func() string { return "a row" })
		}
		f, err := p.Field(1, value.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		got, report, err := f.Result(name, "")
		if diff := cmp.Diff(want, got.Notation, cmpopts.EquateEmpty()); err != nil || got.Type != herb.TypeNumber ||
			diff != "" {
			t.Errorf("%s: %s, %v\n%s", name, report.Evidence, err, diff)
		}
	}
}

// TestInfer_conventions checks that columns which show a notation decide about an ambiguous column,
// the last one.
func TestInfer_conventions(t *testing.T) {
	t.Parallel()
	groupPoint, groupComma := herb.Notation{Group: ".", Decimal: ","}, herb.Notation{Group: ","}
	const points, commas = "1.485|78.746|160", "1,485|78,746|12,125"
	const slashes, dashes = "1/2/2024|3/4/2024|5/6/2024", "1-2-2024|3-4-2024|5-6-2024"
	for _, tt := range []struct {
		name     string
		columns  []string
		isTyped  bool // the first column has cells that are numbers
		want     herb.Type
		notation herb.Notation
	}{
		{"no evidence", []string{"a|b|c", "1|2|3", points}, false, herb.TypeText, herb.Notation{}},
		{"decimal commas", []string{"12,5|3|4", points}, false, herb.TypeNumber, groupPoint},
		{"decimal commas and no integer", []string{"12,5|3|4", "1.485|78.746|2.125"}, false, herb.TypeNumber,
			groupPoint},
		{"thousands and decimal commas", []string{"1.234,5|3|4", points}, false, herb.TypeNumber, groupPoint},
		{"decimal points", []string{"1.5|3|4", points}, false, herb.TypeNumber, herb.Notation{}},
		{"zeros before points", []string{"0.125|3|4", points}, false, herb.TypeNumber, herb.Notation{}},
		{"contradictory columns", []string{"1.5|3|4", "12,5|3|4", points}, false, herb.TypeText, herb.Notation{}},
		{"two ambiguous columns", []string{points, points}, false, herb.TypeText, herb.Notation{}},
		{"cells that are numbers", []string{points}, true, herb.TypeNumber, herb.Notation{}},
		{"texts with points beside cells that are numbers", []string{"1.5|3|4", points}, true, herb.TypeText,
			herb.Notation{}},
		{"texts with points beside numbers and decimal commas", []string{"1.5|3|4", "12,5|3|4", points}, true,
			herb.TypeNumber, groupPoint},
		{"ordinals", []string{"1.|2.|3.", points}, false, herb.TypeText, herb.Notation{}},
		{"text beside cells that are numbers", []string{"1.5|3|4", commas}, true, herb.TypeText, herb.Notation{}},
		{"commas beside decimal commas", []string{"12,5|3|4", commas}, false, herb.TypeNumber,
			herb.Notation{Decimal: ","}},
		{"commas and an integer beside decimal commas", []string{"12,5|3|4", "1,485|2|3,125"}, false, herb.TypeNumber,
			herb.Notation{Decimal: ","}},
		{"commas beside decimal points", []string{"1.5|3|4", commas}, false, herb.TypeNumber, groupComma},
		{"dollars beside decimal commas", []string{"12,5|3|4", "$1,485|$2,125|$3,500"}, false, herb.TypeNumber,
			herb.Notation{Group: ",", Affix: "$"}},
		{"day first", []string{"31/12/2024|1/1/2024|2/1/2024", slashes}, false, herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y"}},
		{"day first with times",
			[]string{"31/12/2024|1/1/2024|2/1/2024", "1/2/2024 10:00|3/4/2024 11:00|5/6/2024 12:00"}, false,
			herb.TypeDateTime, herb.Notation{DateFormat: "%d/%m/%Y %H:%M"}},
		{"month first", []string{"12/31/2024|1/1/2024|2/1/2024", slashes}, false, herb.TypeDate,
			herb.Notation{DateFormat: "%m/%d/%Y"}},
		{"both orders", []string{"12/31/2024|1/1/2024|2/1/2024", "31/12/2024|1/1/2024|2/1/2024", slashes}, false,
			herb.TypeText, herb.Notation{}},
		{"another separator", []string{"31/12/2024|1/1/2024|2/1/2024", dashes}, false, herb.TypeText, herb.Notation{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := value.NewProfiler()
			for row := range 3 {
				var cells [][]byte
				for _, column := range tt.columns {
					cells = append(cells, []byte(strings.Split(column, "|")[row]))
				}
				p.Observe(cells, func() string { return fmt.Sprint("row ", row+1) })
			}
			if tt.isTyped {
				p.SetTyped(0)
			}
			f, err := p.Field(len(tt.columns)-1, value.Schema{})
			if err != nil {
				t.Fatal(err)
			}
			got, report, err := f.Result("c", "")
			if diff := cmp.Diff(tt.notation, got.Notation, cmpopts.EquateEmpty()); err != nil || got.Type != tt.want ||
				diff != "" {
				t.Errorf("%s (%s), %v; want %s, notation (-want +got):\n%s", got.Type, report.Evidence, err,
					tt.want, diff)
			}
		})
	}
}

// TestInfer_searchable checks that columns of URLs are not searched.
func TestInfer_searchable(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]bool{
		"https://a.example/x|/b/c|//d.example": false, "https://a.example/é": false, "https://a.example/\x01": false,
		"git+ssh://a": false,
		"://a":        true, "1a://b": true, "a_b://c": true, "https://": true, "a:b://c|/d": true,
		"https://a.example/x y": true, "https://a.example/é\u00a0y": true, "https://a.example/\ty": true,
		"https://a.example|b": true,
	} {
		r, err := profileOf(t, values, "c", "", value.Schema{})
		if err != nil || r.Searchable != want {
			t.Errorf("%q: searchable %t; want %t (%v)", values, r.Searchable, want, err)
		}
	}
}

// TestInfer_codes checks which columns of digits are codes, and which numbers are searched.
func TestInfer_codes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, column, values string
		file, want           herb.Type
		searchable           bool
	}{
		{"ZIP codes", "ZIP", "94110|10001", "", herb.TypeText, true},
		{"digits after a number of something", "phone_number", "4930123456|49891234567", "", herb.TypeText, true},
		{"accounts", "account_number", "12345|54321", "", herb.TypeText, true},
		{"amounts", "vat", "190|380|285", "", herb.TypeNumber, false},
		{"cases", "cas", "190|380|285", "", herb.TypeNumber, false},
		{"cod", "cod", "190|380|285", "", herb.TypeNumber, false},
		{"subscriptions", "mobile_subscriptions", "190000|380000", "", herb.TypeNumber, false},
		{"votes", "postal_votes", "1900|3800", "", herb.TypeNumber, false},
		{"balances", "account_balance", "1900|3800", "", herb.TypeNumber, false},
		{"calls", "phone_calls", "1900|3800", "", herb.TypeNumber, false},
		{"a name of two words", "zip_code", "94110|10001", "", herb.TypeText, true},
		{"a name in camel case", "billingZipCode", "94110|10001", "", herb.TypeText, true},
		{"accents", "Código", "1101|1102", "", herb.TypeText, true},
		{"beside missing values", "PLZ", "10115|80331|-|NA", "", herb.TypeText, true},
		{"phone numbers of several lengths", "Telefon", "4930123456|49891234567", "", herb.TypeText, true},
		{"FIPS codes of several lengths", "FIPS", "1001|10001", "", herb.TypeText, true},
		{"codes of equal lengths", "country code", "276|840", "", herb.TypeText, true},
		{"codes of several lengths", "code", "1276|840", "", herb.TypeNumber, false},
		{"long codes of several lengths", "code", "12760|8400", "", herb.TypeNumber, true},
		{"small numbers", "code", "1|2|3", "", herb.TypeNumber, false},
		{"a small number among codes", "zip", "94110|1", "", herb.TypeNumber, false},
		{"a fraction", "zip", "94110|10001.5", "", herb.TypeNumber, false},
		{"a negative number", "account", "-94110|10001", "", herb.TypeNumber, false},
		{"quantities", "population", "94110|10001", "", herb.TypeNumber, false},
		{"a word that contains another", "zipper_length", "94110|10001", "", herb.TypeNumber, false},
		{"as declared by the file", "zip", "94110|10001", herb.TypeNumber, herb.TypeNumber, true},
		{"identifiers", "object_id", "10045321|9904532", "", herb.TypeNumber, true},
		{"numbers of rows", "id", "1|2|3", "", herb.TypeNumber, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, tt.column, tt.file, value.Schema{})
			if err != nil || r.Type != tt.want || r.Searchable != tt.searchable {
				t.Errorf("%s, searchable %t (%s), %v", r.Type, r.Searchable, r.Report.Evidence, err)
			}
		})
	}
}

func TestInfer_fileTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, column, values string
		file, want           herb.Type
		notation             herb.Notation
	}{
		{"digits in text", "zip", "94110|10001", herb.TypeText, herb.TypeText, herb.Notation{}},
		{"words in text", "c", "yes|no", herb.TypeText, herb.TypeText, herb.Notation{}},
		{"dates in text", "c", "2024-02-29", herb.TypeText, herb.TypeDate, herb.Notation{}},
		{"NaN and infinity in numbers", "c", "1.5|NaN|-Inf", herb.TypeNumber, herb.TypeNumber,
			herb.Notation{Missing: []string{"-Inf", "NaN"}}},
		{"too many digits in numbers", "c", "1|" + digits(1001), herb.TypeNumber, herb.TypeText, herb.Notation{}},
		{"exponents in numbers", "c", "1e5|2e7", herb.TypeNumber, herb.TypeNumber, herb.Notation{}},
		{"text in numbers", "c", "1|x", herb.TypeNumber, herb.TypeText, herb.Notation{}},
		{"leading zeros in numbers", "c", "1|007", herb.TypeNumber, herb.TypeText, herb.Notation{}},
		{"money in numbers", "c", "$1|$2", herb.TypeNumber, herb.TypeNumber, herb.Notation{Affix: "$"}},
		{"text in datetimes", "c", "2024-02-29T10:00Z|x", herb.TypeDateTime, herb.TypeText, herb.Notation{}},
		{"other digits in booleans", "c", "1|2", herb.TypeBoolean, herb.TypeNumber, herb.Notation{}},
		{"text beside digits in booleans", "c", "1|x", herb.TypeBoolean, herb.TypeText, herb.Notation{}},
		{"midnight in datetimes", "c", "2024-02-29", herb.TypeDateTime, herb.TypeDateTime, herb.Notation{}},
		{"words in booleans", "c", "true|false", herb.TypeBoolean, herb.TypeBoolean, herb.Notation{}},
		{"digits in booleans", "c", "1|0", herb.TypeBoolean, herb.TypeBoolean,
			herb.Notation{True: []string{"1"}, False: []string{"0"}}},
		{"arrays", "c", "1,2", herb.TypeList, herb.TypeList, herb.Notation{}},
		{"name of a list", "Tags", "solo", "", herb.TypeList, herb.Notation{}},
		{"JSON under the name of a list", "tags", `["a"]`, "", herb.TypeList, herb.Notation{JSON: true}},
		{"hstore under the name of a list", "tags", `"highway"=>"residential", "name"=>"A"`, "", herb.TypeText,
			herb.Notation{}},
		{"objects under the name of a list", "tags", `{"a":1}`, "", herb.TypeText, herb.Notation{}},
		{"JSON arrays of numbers in lists", "c", "[1,2]", herb.TypeList, herb.TypeList, herb.Notation{JSON: true}},
		{"signs in numbers", "c", "1|n/a", herb.TypeNumber, herb.TypeNumber, herb.Notation{Missing: []string{"n/a"}}},
		{"no values", "c", "|", herb.TypeNumber, herb.TypeNumber, herb.Notation{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, tt.column, tt.file, value.Schema{})
			if diff := cmp.Diff(tt.notation, r.Notation, cmpopts.EquateEmpty()); err != nil || r.Type != tt.want ||
				diff != "" {
				t.Errorf("%s (%s), %v; want %s, notation (-want +got):\n%s", r.Type, r.Report.Evidence, err,
					tt.want, diff)
			}
		})
	}
}

func TestDeclared(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, values string
		schema       value.Schema
		want         herb.Type
		notation     herb.Notation
		culprit      string // of the error
	}{
		{"text", "1|2", value.Schema{Type: "string"}, herb.TypeText, herb.Notation{}, ""},
		{"separators in text", "1,234|5", value.Schema{Type: "string"}, herb.TypeText, herb.Notation{}, ""},
		{"separators in lists", "1,234|5", value.Schema{Type: "list"}, herb.TypeList, herb.Notation{}, ""},
		{"any", "1|2", value.Schema{Type: "any"}, herb.TypeNumber, herb.Notation{}, ""},
		{"too many digits", "1|" + digits(1001), value.Schema{Type: "number"}, "", herb.Notation{},
			`(row 2) is not a number, as declared`},
		{"padded integers", "01001|01003", value.Schema{Type: "integer"}, herb.TypeNumber,
			herb.Notation{Padded: true}, ""},
		{"fractions among integers", "1|2.50|3.5", value.Schema{Type: "integer"}, "", herb.Notation{},
			`"2.50" (row 2) is not an integer`},
		{"fractions of zero", "1.0|2.00|-3|NA", value.Schema{Type: "integer"}, herb.TypeNumber,
			herb.Notation{Missing: []string{"NA"}}, ""},
		{"plain integers", "1|2", value.Schema{Type: "integer"}, herb.TypeNumber, herb.Notation{}, ""},
		{"codes with an e", "1e5", value.Schema{Type: "number"}, herb.TypeNumber, herb.Notation{}, ""},
		{"markers", "1|NA|INF", value.Schema{Type: "number"}, herb.TypeNumber,
			herb.Notation{Missing: []string{"INF", "NA"}}, ""},
		{"separators", "1.234|1,5", value.Schema{Type: "number", DecimalChar: ",", GroupChar: "."}, herb.TypeNumber,
			herb.Notation{Decimal: ",", Group: "."}, ""},
		{"undeclared separators", "1,234.5", value.Schema{Type: "number"}, herb.TypeNumber,
			herb.Notation{Group: ","}, ""},
		{"declared separators that no value has", "1|2", value.Schema{Type: "number", DecimalChar: ","},
			herb.TypeNumber, herb.Notation{Decimal: ","}, ""},
		{"other decimals than declared", "1.5|2", value.Schema{Type: "number", DecimalChar: ","}, "", herb.Notation{},
			`"1.5" (row 1) is not a number in the declared notation`},
		{"other groups than declared", "1,234|1,234,567", value.Schema{Type: "number", GroupChar: "'"}, "",
			herb.Notation{}, `"1,234" (row 1)`},
		{"not bare", "$5|$7", value.Schema{Type: "number", NotBare: true}, herb.TypeNumber,
			herb.Notation{Affix: "$"}, ""},
		{"not bare, not a number", "2,50 €|on demand|3,10 €",
			value.Schema{Type: "number", NotBare: true, DecimalChar: ","}, "", herb.Notation{},
			`"on demand" (row 2) is not a number`},
		{"not bare, no values", "||", value.Schema{Type: "number", NotBare: true}, herb.TypeNumber,
			herb.Notation{}, ""},
		{"not bare, only markers", "NA| |", value.Schema{Type: "integer", NotBare: true, GroupChar: ","},
			herb.TypeNumber, herb.Notation{Group: ",", Missing: []string{"NA"}}, ""},
		{"any date, no values", "", value.Schema{Type: "date", Format: "any"}, herb.TypeDate, herb.Notation{}, ""},
		{"any datetime, only markers", "N/A", value.Schema{Type: "datetime", Format: "any"}, herb.TypeDateTime,
			herb.Notation{Missing: []string{"N/A"}}, ""},
		{"signs as words", "*|-|*|NA", value.Schema{Type: "boolean", TrueValues: []string{"*"},
			FalseValues: []string{"-"}}, herb.TypeBoolean,
			herb.Notation{True: []string{"*"}, False: []string{"-"}, Missing: []string{"NA"}}, ""},
		{"rare words", numbersTo(200) + "unknown", value.Schema{Type: "number"}, "", herb.Notation{},
			`"unknown" (row 201) is not a number`},
		{"rare words in any date", strings.Repeat("31/12/2024|", 100) + "unknown",
			value.Schema{Type: "date", Format: "any"}, herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y", Missing: []string{"unknown"}}, ""},
		{"JSON arrays", `["a, b"]|["c"]`, value.Schema{Type: "array"}, herb.TypeList, herb.Notation{JSON: true}, ""},
		{"alternatives", "1/15/18|5/16/2014", value.Schema{Type: "date", Format: "%m/%d/%Y|%m/%d/%y"}, herb.TypeDate,
			herb.Notation{DateFormat: "%m/%d/%Y|%m/%d/%y"}, ""},
		{"alternatives that are no dates", "1|15", value.Schema{Type: "date", Format: "%m/%d/%Y|%m"}, "",
			herb.Notation{}, "format"},
		{"not a number", "1|x", value.Schema{Type: "number"}, "", herb.Notation{}, `"x" (row 2)`},
		{"unsupported decimals", "1", value.Schema{Type: "number", DecimalChar: "·"}, "", herb.Notation{},
			"decimalChar"},
		{"unsupported groups", "1", value.Schema{Type: "number", GroupChar: "xx"}, "", herb.Notation{}, "groupChar"},
		{"equal separators", "1", value.Schema{Type: "number", GroupChar: "."}, "", herb.Notation{}, "groupChar"},
		{"date format", "1/2/2024|3/4/2024", value.Schema{Type: "date", Format: "%d/%m/%Y"}, herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y"}, ""},
		{"letters of a date format", "01/02/2024", value.Schema{Type: "date", Format: "DD/MM/YYYY"}, herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y"}, ""},
		{"unsupported date format", "2024-060", value.Schema{Type: "date", Format: "%Y-%j"}, "",
			herb.Notation{}, "%Y-%j"},
		{"another date format than declared", "31.12.2024", value.Schema{Type: "date", Format: "%d/%m/%Y"}, "",
			herb.Notation{}, `"31.12.2024" (row 1)`},
		{"default date format", "2024-12-31", value.Schema{Type: "date", Format: "default"}, herb.TypeDate,
			herb.Notation{}, ""},
		{"another date format than the default", "31/12/2024", value.Schema{Type: "date", Format: "default"}, "",
			herb.Notation{}, `"31/12/2024" (row 1)`},
		{"any date", "31/12/2024", value.Schema{Type: "date", Format: "any"}, herb.TypeDate,
			herb.Notation{DateFormat: "%d/%m/%Y"}, ""},
		{"not a date", "2024-02-30", value.Schema{Type: "date"}, "", herb.Notation{}, `"2024-02-30" (row 1)`},
		{"datetime", "2024-02-29T10:00:00Z", value.Schema{Type: "datetime"}, herb.TypeDateTime, herb.Notation{}, ""},
		{"datetime format", "29.2.2024 10:00", value.Schema{Type: "datetime", Format: "%d.%m.%Y %H:%M"},
			herb.TypeDateTime, herb.Notation{DateFormat: "%d.%m.%Y %H:%M"}, ""},
		{"markers beside a declared date format", "29.2.2024 10:00|NA",
			value.Schema{Type: "datetime", Format: "%d.%m.%Y %H:%M"}, herb.TypeDateTime,
			herb.Notation{DateFormat: "%d.%m.%Y %H:%M", Missing: []string{"NA"}}, ""},
		{"booleans", "true|false", value.Schema{Type: "boolean"}, herb.TypeBoolean, herb.Notation{}, ""},
		{"words", "oui|non", value.Schema{Type: "boolean", TrueValues: []string{"oui"}, FalseValues: []string{"non"}},
			herb.TypeBoolean,
			herb.Notation{True: []string{"oui"}, False: []string{"non"}}, ""},
		{"other words than declared", "yes|no", value.Schema{Type: "boolean", TrueValues: []string{"ja"}}, "",
			herb.Notation{}, `"yes" (row 1)`},
		{"words with the opposite meaning", "yes|no", value.Schema{Type: "boolean", TrueValues: []string{"no"},
			FalseValues: []string{"yes"}}, herb.TypeBoolean,
			herb.Notation{True: []string{"no"}, False: []string{"yes"}}, ""},
		{"a default word of the other value", "1|True", value.Schema{Type: "boolean", FalseValues: []string{"1"}},
			herb.TypeBoolean,
			herb.Notation{True: []string{"true", "True", "TRUE"}, False: []string{"1"}}, ""},
		{"a word of both values", "x", value.Schema{Type: "boolean", TrueValues: []string{"x"},
			FalseValues: []string{"y", "x"}}, "", herb.Notation{}, "falseValues"},
		{"not a boolean", "oui", value.Schema{Type: "boolean"}, "", herb.Notation{}, `"oui" (row 1)`},
		{"list", "a;b", value.Schema{Type: "list", Delimiter: ";"}, "", herb.Notation{}, "delimiter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, "c", "", tt.schema)
			if tt.culprit != "" {
				if herb.CodeOf(err) != herb.CodeInvalid || !strings.Contains(err.Error(), tt.culprit) {
					t.Errorf("%s, %v; want an error about %s", r.Type, err, tt.culprit)
				}
				return
			}
			if diff := cmp.Diff(tt.notation, r.Notation, cmpopts.EquateEmpty()); err != nil || r.Type != tt.want ||
				diff != "" {
				t.Errorf("%s (%s), %v; want %s, notation (-want +got):\n%s", r.Type, r.Report.Evidence, err,
					tt.want, diff)
			}
		})
	}
}

func TestResult_notes(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"17|x":             "",
		"10|x":             "",
		"12.3|4.5 p|: c|7": `1 values have letters that qualify them, the first "4.5 p" (row 2); for numbers, move the letters to a column of their own`,
		"00042|17":         `numbers with leading zeros, such as "00042" (row 1), are kept as text`,
		"1|" + digits(1001): `numbers of more than 1,000 digits, such as "` + herb.Clip(digits(400), 60) +
			`" (row 2), are kept as text`,
		"a| b|c\u00a0": `2 values begin or end with white space, the first " b" (row 2)`,
		" 1|2":         "",
	} {
		r, err := profileOf(t, values, "c", "", value.Schema{})
		if got := strings.Join(r.Report.Notes, "; "); err != nil || got != want {
			t.Errorf("%q: notes %q, %v; want %q", values, got, err, want)
		}
	}
	r, err := profileOf(t, "00042|17", "c", "", value.Schema{Type: "integer"})
	if err != nil || len(r.Report.Notes) > 0 {
		t.Errorf("declared integers with leading zeros: notes %q, %v", r.Report.Notes, err)
	}
}

func TestResult_lengths(t *testing.T) {
	t.Parallel()
	for values, want := range map[string][2]int{
		"12|3456|": {2, 4},
		"abcdefgé|Ångström an der Spree|植物園植物園植物園": {8, 21},
		"植物園植物園|ab|abcdefghijklmnop":               {2, 16},
		"1234567\u00a0|12345678":                   {8, 8},
	} {
		r, err := profileOf(t, values, "c", "", value.Schema{})
		if got := [2]int{r.Report.Shortest, r.Report.Longest}; err != nil || got != want {
			t.Errorf("%s: %v characters and error %v, want %v", values, got, err, want)
		}
	}
}

func TestResult_decimals(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]int{
		"1|23|456": 0, "1.86300|19.246|7": 5, "1,5|2,25|1.234,5": 2, "1,234.5|1,234": 1, "1.5e3|2.25": 2, "$4.50|$5": 2,
		"1.5|two|three": 0,
	} {
		r, err := profileOf(t, values, "c", "", value.Schema{})
		if err != nil || r.Report.Decimals != want {
			t.Errorf("%s: %d decimals and error %v, want %d", values, r.Report.Decimals, err, want)
		}
	}
}

// TestResult_exceptions checks which columns have a type although a few values do not.
func TestResult_exceptions(t *testing.T) {
	t.Parallel()
	number := func(missing ...string) herb.Notation { return herb.Notation{Missing: missing} }
	date := herb.Notation{DateFormat: "%d/%m/%Y", Missing: []string{"no date"}}
	var words []string
	for c := 'a'; c <= 'z'; c++ {
		words = append(words, "x"+string(c))
	}
	twenty := number(words[:20]...)
	for _, tt := range []struct {
		name, values string
		fileType     herb.Type
		wantType     herb.Type
		want         herb.Notation
		evidence     string
	}{
		{"one of ten", numbersTo(9) + "on request", "", herb.TypeNumber, number("on request"),
			"number: 10 of 10; 1 exception (on request: 1)"},
		{"one of nine", numbersTo(8) + "on request", "", herb.TypeText, herb.Notation{},
			`"on request" (row 9) is not a number`},
		{"two of nineteen", numbersTo(17) + "on request|sold out", "", herb.TypeText, herb.Notation{},
			`2 values are not numbers, the first "on request" (row 18)`},
		{"two of twenty", "sold out|" + numbersTo(18) + "on request", "", herb.TypeNumber,
			number("on request", "sold out"), "2 exceptions (sold out: 1, on request: 1)"},
		{"the most frequent first", "a|" + numbersTo(40) + "b|b", "", herb.TypeNumber, number("a", "b"),
			"3 exceptions (b: 2, a: 1)"},
		{"missing values beside them", numbersTo(18) + "NA|-|-||x|y", "", herb.TypeNumber, number("-", "NA", "x", "y"),
			"3 missing (-: 2, NA: 1); 2 exceptions"},
		{"missing values do not count", numbersTo(8) + "NA|NA|x", "", herb.TypeText, herb.Notation{},
			`"x" (row 11) is not a number`},
		{"a digit", numbersTo(40) + "12a", "", herb.TypeText, herb.Notation{}, `"12a" (row 41) is not a number`},
		{"twenty different ones", numbersTo(200) + strings.Join(words[:20], "|"), "", herb.TypeNumber, twenty,
			"20 exceptions"},
		{"too many different ones", numbersTo(200) + strings.Join(words[:21], "|"), "", herb.TypeText, herb.Notation{},
			"21 values are not numbers"},
		{"far too many", strings.Join(words, "|") + "|yes|no|y|n|Y|" + numbersTo(400) + "xa", "", herb.TypeText,
			herb.Notation{}, "32 values are not numbers"},
		{"a long one", numbersTo(20) + strings.Repeat("x", 401), "", herb.TypeText, herb.Notation{}, "is not a number"},
		{"dates", strings.Repeat("31/12/2024|", 9) + "no date", "", herb.TypeDate, date, "1 exception (no date: 1)"},
		{"datetimes", strings.Repeat("2024-02-29T10:00:00Z|", 9) + "noon", "", herb.TypeDateTime, number("noon"),
			"1 exception"},
		{"times", strings.Repeat("10:00|", 9) + "noon", "", herb.TypeTime, number("noon"), "1 exception"},
		{"booleans", strings.Repeat("yes|no|", 9) + "perhaps|x", "", herb.TypeBoolean, number("perhaps", "x"),
			"2 exceptions (perhaps: 1, x: 1)"},
		{"words for true and false", numbersTo(18) + "yes|no", "", herb.TypeNumber, number("no", "yes"),
			"2 exceptions"},
		{"money", strings.Repeat("£1,234.50|£7|", 9) + "ask|free", "", herb.TypeNumber,
			herb.Notation{Group: ",", Affix: "£", Missing: []string{"ask", "free"}}, "2 exceptions"},
		{"infinities", numbersTo(18) + "Inf|-Inf", "", herb.TypeNumber, number("-Inf", "Inf"),
			"2 exceptions (Inf: 1, -Inf: 1)"},
		{"too many infinities", numbersTo(17) + "Inf|-Inf", "", herb.TypeText, herb.Notation{},
			"is not a finite number"},
		{"numbers that the file declares", numbersTo(9) + "x", herb.TypeNumber, herb.TypeNumber, number("x"),
			"as declared by the file: 10 of 10; 1 exception (x: 1)"},
		{"text that the file declares", numbersTo(40) + "x", herb.TypeText, herb.TypeText, herb.Notation{}, "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := profileOf(t, tt.values, "c", tt.fileType, value.Schema{})
			if diff := cmp.Diff(tt.want, r.Notation); err != nil || r.Type != tt.wantType || diff != "" ||
				!strings.Contains(r.Report.Evidence, tt.evidence) {
				t.Errorf("%s, %q, %v (-want +got)\n%s", r.Type, r.Report.Evidence, err, diff)
			}
			if r.Type != herb.TypeText {
				named := 0
				for _, e := range r.Report.Exceptions {
					named += e.Count
				}
				if want := fmt.Sprint(named, " exception"); !strings.Contains(r.Report.Evidence, want) {
					t.Errorf("the exceptions are %+v", r.Report.Exceptions)
				}
			}
		})
	}
	_, err := profileOf(t, numbersTo(40)+"x", "c", "", value.Schema{Type: "number"})
	if want := `"x" (row 41) is not a number`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a column that is declared a number: %v, want %s", err, want)
	}
}

// TestResult_distribution checks the distribution of lengths: exact intervals without gaps between
// the shortest and the longest text.
func TestResult_distribution(t *testing.T) {
	t.Parallel()
	values := func(lengths ...int) string {
		var all []string
		for _, n := range lengths {
			all = append(all, strings.Repeat("é", n))
		}
		return strings.Join(all, "|")
	}
	r, err := profileOf(t, values(3, 3, 5, 4, 3), "c", "", value.Schema{})
	if diff := cmp.Diff([]herb.LengthCount{{From: 3, To: 3, Count: 3}, {From: 4, To: 4, Count: 1},
		{From: 5, To: 5, Count: 1}}, r.Report.Lengths); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, values := range []string{values(3, 3), "", "1|22"} {
		if r, err := profileOf(t, values, "c", "", value.Schema{}); err != nil || r.Report.Lengths != nil {
			t.Errorf("%q: %v, %v", values, r.Report.Lengths, err)
		}
	}
	var lengths []int
	for i := range 2000 {
		lengths = append(lengths, 7+i*i/500)
	}
	r, err = profileOf(t, values(lengths...), "c", "", value.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Report.Lengths
	if len(got) > 20 || len(got) < 10 || got[0].From != 7 || got[len(got)-1].To != lengths[1999] {
		t.Errorf("%d intervals from %v to %v", len(got), got[0], got[len(got)-1])
	}
	for i, c := range got {
		want := 0
		for _, n := range lengths {
			if n >= c.From && n <= c.To {
				want++
			}
		}
		if i > 0 && c.From != got[i-1].To+1 || c.Count != want {
			t.Errorf("%+v after %+v; %d texts have such a length", c, got[max(i-1, 0)], want)
		}
	}
}

func TestProfiler_allocations(t *testing.T) {
	s := value.NewProfiler()
	row := [][]byte{
		[]byte("1234.5"), []byte("£1,234.50"), []byte("2024-02-29"), []byte("31/12/2024"),
		[]byte("2024-02-29T10:00:00Z"), []byte("yes"),
		[]byte("Rosa canina, a shrub"), []byte("NA"), []byte("1.5e3"), []byte("https://a.example/x"),
		[]byte("red,green"),
	}
	where := func() string { return "here" }
	s.Observe(row, where)
	if n := testing.AllocsPerRun(100, func() { s.Observe(row, where) }); n > 0 {
		t.Errorf("%v allocations for a row", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	for _, bench := range []struct{ name, value string }{
		{"integer", "12345"}, {"decimal", "1234.56"}, {"money", "£1,234.50"}, {"date", "2024-02-29"},
		{"other date", "31/12/2024"},
		{"datetime", "2024-02-29T10:00:00Z"}, {"boolean", "true"}, {"text", "Rosa canina, a shrub of the hedges"},
		{"marker", "NA"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s, where := value.NewProfiler(), func() string { return "" }
			cells := [][]byte{[]byte(bench.value)}
			for b.Loop() {
				s.Observe(cells, where)
			}
		})
	}
}

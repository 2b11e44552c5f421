package columns

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// reported returns a dataset from descriptions of its columns: name, type, number of distinct
// values, least and greatest one, and how many decimals or which notation they have, separated by
// semicolons. Columns called latitude and longitude are coordinates.
func reported(records int, columns ...string) *Dataset {
	d := &herb.Dataset{}
	d.Records, d.Report = records, &herb.Report{}
	for _, c := range columns {
		parts := append(strings.Split(c, ";"), "", "", "", "")
		f := herb.Field{Name: parts[0], Type: herb.Type(parts[1]), Filterable: true}
		r := herb.ColumnReport{Field: f.Name, Type: f.Type, Filled: records, Min: parts[3], Max: parts[4],
			Shortest: len(parts[3]), Longest: max(len(parts[3]), len(parts[4]))}
		r.Distinct, _ = strconv.Atoi(parts[2])
		if _, fraction, ok := strings.Cut(parts[4], "."); ok {
			r.Decimals = len(fraction)
		}
		f.Notation.DateFormat = parts[5]
		d.Fields, d.Report.Columns = append(d.Fields, f), append(d.Report.Columns, r)
	}
	if latitude := herb.FieldIndex(d.Fields, "latitude"); latitude >= 0 {
		d.Coordinates = []herb.Coordinates{{Latitude: "latitude", Longitude: "longitude"}}
	}
	return Read(d)
}

// TestSuggestCharts checks which chart of a table is first: rule by rule, with tables as people
// publish them.
func TestSuggestCharts(t *testing.T) {
	t.Parallel()
	years := func(prefix string, first, last int) (columns []string) {
		for y := first; y <= last; y++ {
			columns = append(columns, fmt.Sprintf("%s%d;number;40;0;%d", prefix, y, 1000*y))
		}
		return columns
	}
	for name, tt := range map[string]struct {
		d    *Dataset
		want string
	}{
		"events": {reported(5000, "id;number;5000;1;5000", "date;date;3000;2015-01-01;2024-12-31", "age;number;80;1;92",
			"race;text;6;A;W"), "count by date"},
		"events with an amount": {reported(1000, "Row ID;number;1000;19;51285",
			"Order Date;date;653;2011-01-01;2014-12-30", "Customer;text;550;A;Z", "Discount;number;12;0;0.85",
			"Sales;number;990;0.44;8000.5"), "sum of Sales by Order Date"},
		"one row per day": {reported(700, "Date;date;700;2022-01-01;2023-12-01", "SP;number;700;2.73;7450.03",
			"Earnings;number;600;0.5;197.5"), "mean of SP by Date:day"},
		"months as days": {reported(600, "Date;date;600;1950-01-01;1999-12-01", "Price;number;590;46.5;985.5"),
			"mean of Price by Date:month"},
		"months": {reported(355, "Month;date;355;1997-01;2026-07;%Y-%m", "Price;number;261;1.49;13.42"),
			"mean of Price by Month"},
		"very many hours": {reported(40000, "at;datetime;40000;2014-01-01T00:00:00;2018-07-25T00:00:00",
			"Bikes;number;800;0;10493"), "mean of Bikes by at:day"},
		"one row per entity and year": {reported(13979, "Country Name;text;262;A;Z", "Country Code;text;262;ABW;ZWE",
			"Year;number;64;1960;2023", "Value;number;13903;11502.6;105435039"), "mean of Value by Year, Country Name"},
		"entities that are months": {reported(144, "year;number;12;1949;1960", "month;text;12;April;September",
			"passengers;number;118;104;622"), "sum of passengers by year"},
		"amounts of a few entities": {reported(74331, "Year;number;52;1974;2025", "Sex;text;2;Boy;Girl",
			"Name;text;5954;A;Z", "Number;number;930;3;2024", "Rank;number;613;1;816"), "sum of Number by Year, Sex"},
		"terms of a population": {reported(18635, "congress;number;34;80;113", "chamber;text;2;house;senate",
			"birthday;date;3064;1861-02-09;1983-03-30", "termstart;date;34;1947-01-03;2013-01-03",
			"age;number;600;25.5;98.1"),
			"mean of age by termstart:year, chamber"},
		"discoveries": {reported(1035, "method;text;10;A;Z", "number;number;7;1;7", "mass;number;1000;0.5;25.5",
			"year;number;23;1989;2014"), "mean of mass by year, method"},
		"columns of equal standing": {reported(137, "Date;date;137;2002-01;2016-05;%Y-%m", "Chrome;number;91;0;71.4",
			"Firefox;number;99;16.6;47.9", "Opera;number;16;0;2.6", "Safari;number;29;1.5;4.9"),
			"mean of Chrome, Firefox, Opera, Safari by Date"},
		"columns with a unit": {reported(6156, "country;text;228;A;Z", "year;number;27;1990;2016",
			"Cancers (%);number;6156;0.5;33.6", "Diabetes (%);number;6156;0.3;35.8", "Suicide (%);number;6000;0.1;9.5"),
			"mean of Cancers (%), Diabetes (%), Suicide (%) by year"},
		"years as columns": {reported(237, append([]string{"Agency;text;40;A;U", "Agency code;number;40;1;901"},
			years("", 1962, 1967)...)...), "sum of 1962, 1963, 1964, 1965, 1966, 1967 by nothing"},
		"one year in several names": {reported(1794, "name;text;1700;A;Z", "budget_2013$;number;1188;8632;461435929",
			"gross_2013$;number;1700;899;1771682790", "code_2013;number;900;828;3171930973"),
			"count by budget_2013$"},
		"a category": {reported(344, "species;text;3;Adelie;Gentoo", "bill_length_mm;number;164;32.1;59.6",
			"body_mass_g;number;94;2700;6300"), "mean of bill_length_mm by species"},
		"a category of two values comes later": {reported(244, "sex;text;2;Female;Male", "day;text;4;Fri;Thur",
			"tip;number;123;1.5;10.5", "price;number;229;3.07;50.81"), "mean of price by day"},
		"an average of amounts": {reported(2000, "State;text;30;AK;WY", "Average Total Payments;number;1900;10.5;99.5"),
			"mean of Average Total Payments by State"},
		"names": {reported(7, "plan;text;7;A;Z", "Lowest;number;5;0.03;0.97", "Highest;number;5;0.01;122.11"),
			"mean of Lowest by plan"},
		"no evident measure": {reported(300, "kind;text;5;A;Z", "a;number;90;0.5;9.5", "b;number;90;0.5;9.5"),
			"count by kind"},
		"a histogram": {reported(3218, "id;number;3218;1001;72153", "rate;number;210;0.012;0.301"), "count by rate"},
		"numbered columns": {reported(30, "Week number;text;18;All;Z", "1;number;20;0;900", "2;number;20;0;900",
			"3;number;20;0;900"), "sum of 1, 2, 3 by nothing"},
		"numbered periods": {reported(4, "cause;text;4;A;D", "Week 1: 30 Dec;number;4;0.1;0.9",
			"Week 2: 6 Jan;number;4;0.1;0.9", "Week 3: 13 Jan;number;4;0.1;0.9"),
			"mean of Week 1: 30 Dec, Week 2: 6 Jan, Week 3: 13 Jan by nothing"},
		"years with fractions": {reported(348, "Year;number;348;1992.0417;2020.9583", "mass;number;348;0.5;9.5"),
			"mean of mass by Year"},
		"the total of several numbers": {reported(14, "board;text;14;A;Z", "Population (2018);number;14;20000;900000",
			"Total deaths to date;number;14;2;500"), "sum of Total deaths to date by board"},
		"a number that may identify records": {reported(243, "start;number;243;1372701600000;1404410400000",
			"venue;text;1;A;A"), ""},
		"names that hardly repeat": {reported(35, "organisation;text;30;A;Z"), ""},
		"coordinates": {reported(351, "species;text;1;A;A", "longitude;number;351;-80.5;-40.5",
			"latitude;number;351;-20.5;10.5"), "count by longitude, latitude"},
		"codes": {reported(122, "SQUADRON;number;4;99;302", "TYPE;text;8;P-39;P-51"), "count by TYPE"},
		"many names": {reported(34032, "name;text;32173;A;Z", "country;text;244;A;Z",
			"geonameid;number;34032;362;13680114"),
			"count by country"},
		"pairs of numbers": {reported(272, "eruptions;number;126;1.6;5.1", "waiting;number;51;43;96"),
			"count by eruptions, waiting"},
		"row numbers": {reported(100, "row;number;100;1;100", "id;text;100;x0;x99"), ""},
	} {
		got := ""
		if len(tt.d.Charts) > 0 {
			got = chartText(tt.d, tt.d.Charts[0])
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func chartText(d *Dataset, c Chart) string {
	names := func(fields []int) (names []string) {
		for _, i := range fields {
			names = append(names, d.Fields[i].Name)
		}
		return names
	}
	s, by := string(c.Measure), names(c.By)
	if len(c.Fields) > 0 {
		s += " of " + strings.Join(names(c.Fields), ", ")
	}
	if len(by) == 0 {
		return s + " by nothing"
	}
	if c.Grain != "" {
		by[0] += ":" + string(c.Grain)
	}
	return s + " by " + strings.Join(by, ", ")
}

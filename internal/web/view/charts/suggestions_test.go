package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/geo"
	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/state"
)

// table is a dataset as publishers send it, with the publish report of its columns.
type table struct {
	herb.Dataset
	records []herb.Record
}

// newTable returns a table. columns are names with types, such as "year number".
func newTable(columns []string, records []herb.Record) *table {
	t := &table{records: records}
	t.Report, t.Records = &herb.Report{}, len(records)
	for i, c := range columns {
		name, typ, _ := strings.Cut(c, " ")
		f := herb.Field{Name: name, Type: herb.Type(typ), Filterable: true, Sortable: true}
		t.Fields = append(t.Fields, f)
		t.Report.Columns = append(t.Report.Columns, reportColumn(f, records, i))
	}
	t.Coordinates = geo.Recognize(t.Fields, records, geo.Declaration{})
	return t
}

// reportColumn describes a column as a publish report does.
func reportColumn(f herb.Field, records []herb.Record, i int) herb.ColumnReport {
	r := herb.ColumnReport{Field: f.Name, Type: f.Type, Shortest: math.MaxInt}
	var values []string
	for _, record := range records {
		if v := record[i]; v != "" {
			values = append(values, v)
			r.Shortest, r.Longest = min(r.Shortest, len(v)), max(r.Longest, len(v))
		}
	}
	r.Filled, r.Empty = len(values), len(records)-len(values)
	slices.SortFunc(values, func(a, b string) int {
		if f.Type != herb.TypeNumber {
			return strings.Compare(a, b)
		}
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		return cmp.Compare(x, y)
	})
	values = slices.Compact(values)
	if len(values) > 0 {
		r.Distinct, r.Min, r.Max = len(values), values[0], values[len(values)-1]
	}
	return r
}

// noise returns a number from 0 to 1 that depends on n only.
func noise(n int) float64 { return math.Mod(math.Abs(math.Sin(float64(n)))*43758.5453, 1) }

func day(n int) string { return time.Date(2020, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }

func number(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// openTables are tables as open data portals have them.
func openTables() map[string]*table {
	country := func(i int) string { return fmt.Sprintf("Country of the %c%c", 'A'+i/26, 'A'+i%26) }
	code := func(i int) string { return fmt.Sprintf("%c%cX", 'A'+i/26, 'A'+i%26) }
	tables := map[string]*table{}
	add := func(name string, columns []string, n int, record func(i int) herb.Record) {
		var records []herb.Record
		for i := range n {
			records = append(records, record(i))
		}
		tables[name] = newTable(columns, records)
	}
	whole := func(x float64) string { return strconv.Itoa(int(x)) }
	add("population", []string{"country text", "code text", "year number", "value number"}, 40*60,
		func(i int) herb.Record {
			return herb.Record{country(i / 60), code(i / 60), strconv.Itoa(1960 + i%60),
				whole(1e5 + 1e8*noise(i/60) + 1e5*float64(i%60))}
		})
	add("gdp", []string{"code text", "year number", "gdp number"}, 40*60, func(i int) herb.Record {
		r := herb.Record{code(i / 60), strconv.Itoa(1960 + i%60), number(1e9 * noise(i))}
		if i%5 == 0 {
			r[2] = ""
		}
		return r
	})
	add("covid", []string{"date date", "continent text", "location text", "cases number", "deaths number"}, 30*200,
		func(i int) herb.Record {
			return herb.Record{day(i % 200), []string{"Asia", "Europe", "Africa"}[i/200%3], country(i / 200),
				whole(1e4 * noise(i)), whole(100 * float64(i%200))}
		})
	add("stocks", []string{"date date", "open number", "high number", "low number", "close number", "volume number"},
		1500, func(i int) herb.Record {
			at := day(i + 2*(i/5)) // not on weekends
			return herb.Record{at, number(100 + 9*noise(i)), number(110 + 9*noise(i+1)), number(90 + 9*noise(i+2)),
				number(100 + 9*noise(i+3)), whole(1e6 + 1e6*noise(i))}
		})
	add("meteorites", []string{"name text", "id number", "mass number", "fall text", "year number", "reclat number",
		"reclong number"}, 3000, func(i int) herb.Record {
		return herb.Record{"Meteorite " + country(i%600) + strings.Repeat("I", i/600), strconv.Itoa(7*i + 1),
			number(math.Pow(10, 7*noise(i))),
			[]string{"Fell", "Found", "Found"}[i%3], whole(860 + 1150*math.Sqrt(noise(i+5))),
			number(180*noise(i+9) - 90), number(360*noise(i+8) - 180)}
	})
	add("earthquakes", []string{"time datetime", "mag number", "place text", "alert text"}, 3000,
		func(i int) herb.Record {
			at := time.Date(2020, 1, 1, 0, 0, 37*i*i%5000000+8000*i, 0, time.UTC)
			return herb.Record{at.Format(time.RFC3339), number(2 + 5*noise(i)),
				fmt.Sprintf("%d km of %s", i, country(i%500)),
				[]string{"green", "green", "yellow", "red"}[int(4*noise(i+3))]}
		})
	survey := []string{"respondent number", "age number", "gender text", "region text"}
	for i := range 94 {
		survey = append(survey, fmt.Sprintf("q%d text", i+1))
	}
	add("survey", survey, 700, func(i int) herb.Record {
		r := herb.Record{strconv.Itoa(1001 + i), whole(18 + 60*noise(i)), []string{"f", "m", "d"}[int(3*noise(i+1))],
			country(int(12 * noise(i+2)))}
		for q := range 94 {
			r = append(r, []string{"never", "rarely", "often", "always"}[int(4*noise(i*94+q))])
		}
		return r
	})
	wide := []string{"year number"}
	for i := range 216 {
		wide = append(wide, fmt.Sprintf("%s_land number", code(i)))
	}
	add("wide", wide, 60, func(i int) herb.Record {
		r := herb.Record{strconv.Itoa(1960 + i)}
		for k := range 216 {
			r = append(r, number(1000*noise(k)+float64(i)))
		}
		return r
	})
	add("salaries", []string{"name text", "department text", "salary number", "postcode number", "employee_id number"},
		1000, func(i int) herb.Record {
			department := []string{"Sales", "Research", "Law"}[int(3*noise(i+1)*noise(i+1))]
			return herb.Record{"Person " + country(i%600) + strings.Repeat("I", i/600), department,
				whole(21000 + 70000*noise(i)), whole(10000 + 80000*noise(i+2)), strconv.Itoa(20000 + 7*i)}
		})
	add("rows", []string{"row number", "id text"}, 100,
		func(i int) herb.Record { return herb.Record{strconv.Itoa(i + 1), fmt.Sprintf("x%d", i)} })
	return tables
}

// TestFirstQuestion_openTables checks which chart of open tables is first, and what no
// suggestion shows.
func TestFirstQuestion_openTables(t *testing.T) {
	t.Parallel()
	tables := openTables()
	for name, tt := range map[string]struct {
		first, label string
		never        []string // parts of questions
	}{
		"population": {"_by=year:1&_by=country&_measure=mean:value", "Mean of value by year, split by country",
			[]string{"code"}},
		"gdp":         {"_by=year:1&_by=code&_measure=sum:gdp", "Sum of gdp by year, split by code", nil},
		"covid":       {"_by=date:day&_by=location&_measure=sum:cases", "Sum of cases by date, split by location", nil},
		"stocks":      {"_by=date:week&_measure=mean:close", "Mean of close by date", []string{"open"}},
		"meteorites":  {"_by=year:10", "Rows by year", []string{"id", "reclat", "reclong"}},
		"earthquakes": {"_by=time:week", "Rows by time", []string{"place"}},
		"survey":      {"_by=gender&_measure=mean:age", "Mean of age by gender", []string{"respondent"}},
		"wide": {"_by=year:1&_measure=mean:AAX_land&_measure=mean:ABX_land&_measure=mean:ACX_land" +
			"&_measure=mean:ADX_land&_measure=mean:AEX_land",
			"Mean of AAX_land, ABX_land, ACX_land, ADX_land, AEX_land by …", nil},
		"salaries": {"_by=department&_measure=mean:salary", "Mean of salary by department",
			[]string{"postcode", "employee_id"}},
		"rows": {"_measure=count", "", []string{"row", "id"}},
	} {
		d := columns.Read(&tables[name].Dataset)
		if got := readable(FirstQuestion(d)); got != tt.first {
			t.Errorf("%s: the first question is %s, want %s", name, got, tt.first)
		}
		if got := FirstLabel(d); got != tt.label {
			t.Errorf("%s: the label is %q, want %q", name, got, tt.label)
		}
		for i, c := range d.Charts {
			q := questionOf(d, c)
			for _, p := range q {
				_, measure, _ := strings.Cut(p.Value, ":")
				by, _, _ := strings.Cut(p.Value, ":")
				if slices.Contains(tt.never, by) || slices.Contains(tt.never, measure) {
					t.Errorf("%s: suggestion %d is %s", name, i, readable(q))
				}
			}
			isHistogram := d.Meanings[c.By[0]].Kind == columns.KindNumber
			if spread := countSpread(t, tables[name], q); name != "survey" && !isHistogram && spread >= 0 &&
				spread < .1 {
				t.Errorf("%s: all groups of suggestion %d have the same number of rows: %s", name, i, readable(q))
			}
		}
	}
}

func readable(ps query.Params) string { return state.ReadableQuery(ps) }

// countSpread returns the greatest difference between the numbers of rows of the groups of a chart,
// without the first and the last interval, as a share of the greatest; -1 if it counts no rows.
func countSpread(t *testing.T, d *table, question query.Params) float64 {
	t.Helper()
	if question.Get(query.ParamMeasure) != "" {
		return -1
	}
	_, _, a := askOf(t, &d.Dataset, d.records, question.Encode())
	low, high := math.Inf(1), 0.0
	for i := range a.data.Series {
		cells := a.data.Series[i].Cells
		if a.data.Intervals && len(cells) > 4 {
			cells = cells[1 : len(cells)-1]
		}
		for _, c := range cells {
			low, high = min(low, c.Value), max(high, c.Value)
		}
	}
	return (high - low) / high
}
func TestFirstQuestion(t *testing.T) {
	t.Parallel()
	keep := func(names ...string) *herb.Dataset {
		all, _ := sales()
		d := *all
		d.Fields, d.Report = nil, &herb.Report{}
		for i, f := range all.Fields {
			for _, name := range names {
				if f.Name == name {
					d.Fields, d.Report.Columns = append(d.Fields, f), append(d.Report.Columns, all.Report.Columns[i])
				}
			}
		}
		return &d
	}
	for _, tt := range []struct {
		d    *herb.Dataset
		want string
	}{
		{keep("id", "category", "price", "date"), "_by=date%3Amonth&_measure=mean%3Aprice"},
		{keep("at"), "_by=at%3Ahour"}, {keep("id", "price", "category"), "_by=category&_measure=mean%3Aprice"},
		{keep("id", "price"), "_by=price"}, {keep("id"), "_measure=count"}, {&herb.Dataset{}, "_measure=count"},
	} {
		if got := FirstQuestion(columns.Read(tt.d)).Encode(); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.d.Fields, got, tt.want)
		}
	}
	many := keep("price")
	many.Report.Columns[0].Distinct, many.Report.Columns[0].Max = 400, "93.7"
	if got := FirstQuestion(columns.Read(many)).Encode(); got != "_by=price%3A5" {
		t.Errorf("a number with many values: %s", got)
	}
	long := keep("date")
	long.Report.Columns[0].Min = "1950-01-01"
	if got := FirstQuestion(columns.Read(long)).Encode(); got != "_by=date%3Ayear" {
		t.Errorf("dates of many years: %s", got)
	}
}

func TestSuggestions(t *testing.T) {
	t.Parallel()
	s, _, _ := ask(t, "category=tree")
	var got []string
	for _, one := range NewSuggestions(s, "/p/chart.svg", "v1") {
		got = append(got, one.Label+" | "+one.Href+" | "+one.Image)
	}
	want := []string{
		"The mean of price by date per month | ?category=tree&_by=date%3Amonth&_measure=mean%3Aprice | " +
			"/p/chart.svg?category=tree&_by=date%3Amonth&_measure=mean%3Aprice&_small=v1",
		"The mean of price by category | ?category=tree&_by=category&_measure=mean%3Aprice | " +
			"/p/chart.svg?category=tree&_by=category&_measure=mean%3Aprice&_small=v1",
		"The mean of price by tags | ?category=tree&_by=tags&_measure=mean%3Aprice | " +
			"/p/chart.svg?category=tree&_by=tags&_measure=mean%3Aprice&_small=v1",
		"The mean of price by page | ?category=tree&_by=page&_measure=mean%3Aprice | " +
			"/p/chart.svg?category=tree&_by=page&_measure=mean%3Aprice&_small=v1",
		"Rows by price per value | ?category=tree&_by=price | /p/chart.svg?category=tree&_by=price&_small=v1",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFirstQuestion_pinned checks that charts of the descriptor come first, and that those whose
// fields have changed are left out.
func TestFirstQuestion_pinned(t *testing.T) {
	t.Parallel()
	d, records := sales()
	d.Descriptor = herb.NewDescriptor(
		[]byte(`{"resource":{"herbarium":{"charts":[{"by":"gone"},{"by":"category","measure":"sum:price"},{"by":"date:month","measure":"mean:price"}]}}}`))
	all := columns.Read(d)
	if got := readable(FirstQuestion(all)) + " " +
		FirstLabel(all); got != "_by=category&_measure=sum:price Sum of price by category" {
		t.Errorf("the first question is %s", got)
	}
	s, _, a := askOf(t, d, records, "")
	var got []string
	for _, one := range NewSuggestions(s, "/p/chart.svg", "v1") {
		got = append(got, one.Label)
	}
	want := []string{"The sum of price by category", "The mean of price by date per month"}
	if a.Title != want[0] || len(got) != columns.MaxCharts || !slices.Equal(got[:2], want) ||
		slices.Contains(got[2:], want[1]) {
		t.Errorf("the chart is %q, the suggestions are %q", a.Title, got)
	}
}

// TestByOf_log checks that skewed numbers have logarithmic intervals: a few of them do not contain
// nearly all rows.
func TestByOf_log(t *testing.T) {
	t.Parallel()
	d := openTables()["meteorites"]
	source, all := segmenttest.NewOracle(d.Fields, d.records), columns.Read(&d.Dataset)
	calls := 0
	for range 2 {
		err := all.ReadScales(func(fields []int) ([]query.Facet, error) {
			calls++
			request, err := query.Of(nil).Listing(d.Fields, herb.Order{})
			if err != nil {
				return nil, err
			}
			found, err := source.Facets(t.Context(), &query.FacetRequest{Request: request, Fields: fields, Buckets: 20,
				Scale: query.ScaleAuto})
			return found.Fields, err
		})
		if err != nil || calls != 1 {
			t.Fatalf("%d counts, %v", calls, err)
		}
	}
	by := byOf(all, 2)
	if by.Name != "mass:log1" {
		t.Fatalf("masses are grouped by %s", by.Name)
	}
	if got := byOf(all, 5).Name; got != "reclat:10" {
		t.Errorf("latitudes are grouped by %s", got)
	}
	_, _, a := askOf(t, &d.Dataset, d.records, query.Params{{Name: query.ParamBy, Value: by.Name}}.Encode())
	if a.Title != "Rows by mass in logarithmic steps as bars" || len(a.data.Groups) != 21 {
		t.Fatalf("%q with %d groups", a.Title, len(a.data.Groups))
	}
	for i, g := range a.data.Groups {
		if c := a.data.Series[0].Cells[i]; g.At != float64(i+1) || g.Next != g.At+1 || c.Value > float64(d.Records)/5 {
			t.Errorf("group %d from %v to %v has %v rows: %s", i, g.At, g.Next, c.Value, g.Label)
		}
	}
	if got := a.Rows[3].Label + " " +
		a.Rows[3].Href; got != "10 – 20 ?mass%5Bgte%5D=10&mass%5Blt%5D=20&_by=mass%3Alog1" {
		t.Errorf("a group leads to %s", got)
	}
}

package listtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// facetQuery is a raw facet query and its expected result, in the format of sketch.
type facetQuery struct {
	query string
	want  []string
}

func (s testCase) checkFacets(ctx context.Context, l Lister, q facetQuery) error {
	f, ok := l.(Faceter)
	if !ok {
		return nil
	}
	r, err := query.ParseFacets(q.query, s.fields)
	if err != nil {
		return err
	}
	facets, err := f.Facets(ctx, r)
	if err != nil {
		return err
	}
	if got, want := strings.Join(sketch(facets), "\n"), strings.Join(q.want, "\n"); got != want {
		return errors.New("got\n" + got + "\nwant\n" + want)
	}
	return nil
}

// sketch formats facets briefly: the total, then one line per field.
func sketch(f query.Facets) []string {
	lines := []string{fmt.Sprint(f.Total)}
	for _, facet := range f.Fields {
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %d empty, %d distinct:", facet.Field, facet.Empty, facet.Distinct)
		for _, v := range facet.Values {
			fmt.Fprintf(&b, " %s=%d", v.Value, v.Count)
		}
		if facet.Min != "" || facet.Max != "" {
			fmt.Fprintf(&b, "; %s to %s", facet.Min, facet.Max)
		}
		if len(facet.Histogram) > 0 {
			fmt.Fprintf(&b, "; from %s", facet.Histogram[0].From)
			for i, bucket := range facet.Histogram {
				fmt.Fprintf(&b, " (%d) %s", bucket.Count, bucket.To)
				if i+1 < len(facet.Histogram) && facet.Histogram[i+1].From != bucket.To {
					fmt.Fprintf(&b, " gap %s", facet.Histogram[i+1].From)
				}
			}
		}
		lines = append(lines, b.String())
	}
	return lines
}

// facetCases cover how values are counted.
func facetCases() []testCase {
	return []testCase{
		{
			name:   "facets of numbers",
			fields: named(field("n", herb.TypeNumber)),
			records: []herb.Record{
				{"a", "25.0"}, {"b", "25"}, {"c", "-3"}, {"d", ""}, {"e", "7.5"}, {"f", "7.50"}, {"g", "25"}, {"h", "100"},
				{"i", "0.1"}, {"j", "0.3"},
			},
			facets: []facetQuery{
				{"field=n", []string{
					"10", "n: 1 empty, 6 distinct: 25.0=3 7.5=2 -3=1 0.1=1 0.3=1 100=1; -3 to 100; " +
						"from -10 (1) 0 (4) 10 (0) 20 (3) 30 (0) 40 (0) 50 (0) 60 (0) 70 (0) 80 (0) 90 (0) 100 (1) 110",
				}},
				{"field=n&top=2&buckets=2", []string{"10", "n: 1 empty, 6 distinct: 25.0=3 7.5=2; -3 to 100; from -200 (1) 0 (8) 200"}},
				{"field=n&top=0&buckets=0", []string{"10", "n: 1 empty, 6 distinct:; -3 to 100"}},
				{"field=n&n[gt]=25", []string{"1", "n: 0 empty, 1 distinct: 100=1; 100 to 100; from 100 (1) 101"}},
				{"field=n&n[lt]=0.3&n[gt]=0", []string{"1", "n: 0 empty, 1 distinct: 0.1=1; 0.1 to 0.1; from 0.1 (1) 0.2"}},
				{"field=n&n[in]=0.1,0.3", []string{
					"2", "n: 0 empty, 2 distinct: 0.1=1 0.3=1; 0.1 to 0.3; from 0.1 (1) 0.2 (0) 0.3 (1) 0.4",
				}},
				{"field=n&id[in]=b,g", []string{"2", "n: 0 empty, 1 distinct: 25.0=2; 25.0 to 25.0; from 25 (2) 26"}},
				{"field=n&n=", []string{"1", "n: 1 empty, 0 distinct:"}},
				{"field=n&n=4", []string{"0", "n: 0 empty, 0 distinct:"}},
			},
		},
		{
			name:   "facets of dates",
			fields: named(field("d", herb.TypeDate)),
			records: []herb.Record{
				{"a", "2024-02-29"}, {"b", "2024-03-01"}, {"c", "2024-03-04"}, {"d", ""}, {"e", "2024-12-31"},
				{"f", "2024-03-01"}, {"g", "1999-12-31"}, {"h", "9999-12-31"}, {"i", "0000-01-01"}, {"j", "2024-06-30"},
			},
			facets: []facetQuery{
				{"field=d&id[in]=a,b,f&buckets=2", []string{
					"3", "d: 0 empty, 2 distinct: 2024-03-01=2 2024-02-29=1; 2024-02-29 to 2024-03-01; " +
						"from 2024-02-29 (1) 2024-03-01 (2) 2024-03-02",
				}},
				{"field=d&id[in]=a,b,c,f&buckets=2&top=0", []string{
					"4", "d: 0 empty, 3 distinct:; 2024-02-29 to 2024-03-04; from 2024-02-26 (3) 2024-03-04 (1) 2024-03-11",
				}},
				{"field=d&id[in]=a,j&buckets=7&top=0", []string{
					"2", "d: 0 empty, 2 distinct:; 2024-02-29 to 2024-06-30; from 2024-02-01 (1) 2024-03-01 (0) 2024-04-01 (0) " +
						"2024-05-01 (0) 2024-06-01 (1) 2024-07-01",
				}},
				{"field=d&id[in]=a,c,e,j&buckets=4&top=0", []string{
					"4", "d: 0 empty, 4 distinct:; 2024-02-29 to 2024-12-31; from 2024-01-01 (2) 2024-04-01 (1) 2024-07-01 (0) " +
						"2024-10-01 (1) 2025-01-01",
				}},
				{"field=d&id[in]=g,e&buckets=6&top=0", []string{
					"2", "d: 0 empty, 2 distinct:; 1999-12-31 to 2024-12-31; from 1995-01-01 (1) 2000-01-01 (0) 2005-01-01 (0) " +
						"2010-01-01 (0) 2015-01-01 (0) 2020-01-01 (1) 2025-01-01",
				}},
				{"field=d&id=h&top=0", []string{"1", "d: 0 empty, 1 distinct:; 9999-12-31 to 9999-12-31; from 9999-12-31 (1) 9999-12-31"}},
				{"field=d&top=1&buckets=3", []string{
					"10", "d: 1 empty, 8 distinct: 2024-03-01=2; 0000-01-01 to 9999-12-31; " +
						"from 0000-01-01 (8) 5000-01-01 (1) 9999-12-31",
				}},
			},
		},
		{
			name:   "facets of text",
			fields: named(field("t", herb.TypeText)),
			records: []herb.Record{
				{"a", "bo"}, {"b", "Çelik"}, {"c", "zed"}, {"d", "Ångström"}, {"e", "A\u030angstro\u0308m"}, {"f", ""},
				{"g", "Ana"}, {"h", "ana"}, {"i", "zed"}, {"j", "A\u030angstro\u0308m"}, {"k", "bo"}, {"l", "zed"},
				{"m", "b, o"},
			},
			facets: []facetQuery{
				{"field=t", []string{
					"13", "t: 1 empty, 8 distinct: zed=3 A\u030angstro\u0308m=2 bo=2 ana=1 Ana=1 Ångström=1 b, o=1 Çelik=1",
				}},
				{"field=t&top=2", []string{"13", "t: 1 empty, 8 distinct: zed=3 A\u030angstro\u0308m=2"}},
				{"field=t&id[in]=d,e,f", []string{"3", "t: 1 empty, 2 distinct: A\u030angstro\u0308m=1 Ångström=1"}},
				{"field=t&search=angstrom", []string{"3", "t: 0 empty, 2 distinct: A\u030angstro\u0308m=2 Ångström=1"}},
				{"field=t&search=-", []string{"0", "t: 0 empty, 0 distinct:"}},
				{"field=t&search=-zed+-bo&top=1", []string{"8", "t: 1 empty, 6 distinct: A\u030angstro\u0308m=2"}},
			},
		},
		{
			name:   "facets of lists",
			fields: named(field("l", herb.TypeList)),
			records: []herb.Record{
				{"a", "x, y,x"}, {"b", " , "}, {"c", ""}, {"d", "y"}, {"e", "Zoo,apple"}, {"f", "x"}, {"g", "x,x,x"},
			},
			facets: []facetQuery{
				{"field=l", []string{"7", "l: 1 empty, 4 distinct: x=3 y=2 apple=1 Zoo=1"}},
				{"field=l&top=3", []string{"7", "l: 1 empty, 4 distinct: x=3 y=2 apple=1"}},
				{"field=l&l=y", []string{"2", "l: 0 empty, 2 distinct: y=2 x=1"}},
				{"field=l&field=id&id[in]=b,c", []string{"2", "l: 1 empty, 0 distinct:", "id: 0 empty, 2 distinct: b=1 c=1"}},
			},
		},
		{
			name:    "facets of plants",
			plants:  true,
			fields:  herb.PlantFields(),
			records: facetPlants(),
			facets: []facetQuery{
				{"field=tag&field=name&field=id&top=3&buckets=3", []string{
					"6", "tag: 2 empty, 3 distinct: tree=2 Fern=1 fern*=1", "name: 0 empty, 5 distinct: Oak=2 ash=1 Bracken=1",
					"id: 0 empty, 6 distinct: -9223372036854775808=1 1=1 2=1; -9223372036854775808 to 9223372036854775807; " +
						"from -10000000000000000000 (1) 0 (5) 10000000000000000000",
				}},
				{"field=id&top=0&buckets=5&id[gte]=1&id[lt]=1000", []string{
					"4", "id: 0 empty, 4 distinct:; 1 to 40; from 0 (3) 10 (0) 20 (0) 30 (0) 40 (1) 50",
				}},
				{"field=tag&name=Oak", []string{"2", "tag: 0 empty, 1 distinct: tree=2"}},
				{"field=tag&search=oak", []string{"2", "tag: 0 empty, 1 distinct: tree=2"}},
				{"field=tag&field=id&search=oak+-tree", []string{"0", "tag: 0 empty, 0 distinct:", "id: 0 empty, 0 distinct:"}},
				{"field=tag&search=-tree", []string{"4", "tag: 2 empty, 2 distinct: Fern=1 fern*=1"}},
				{"field=tag&search=fern*", []string{"2", "tag: 0 empty, 2 distinct: Fern=1 fern*=1"}},
				{"field=tag&search=*", []string{"0", "tag: 0 empty, 0 distinct:"}},
				{"field=name&name=%00", []string{"0", "name: 0 empty, 0 distinct:"}},
			},
		},
	}
}

func facetPlants() []herb.Record {
	return []herb.Record{
		{"3", "Oak", "tree"}, {"1", "ash", ""}, {"2", "Bracken", "Fern"}, {"9223372036854775807", "Oak", "tree"},
		{"-9223372036854775808", "Yew", ""}, {"40", "Polypody", "fern*"},
	}
}

package listtest

import "herbarium/internal/herb"

// written returns the fields of a case about one field with a notation.
func written(t herb.Type, n herb.Notation) []herb.Field {
	f := field("v", t)
	f.Notation = n
	return named(f)
}

// scalarCases cover notations, missing values, datetimes and booleans.
func scalarCases() []testCase {
	return []testCase{
		{
			name:   "numbers in other notations",
			fields: written(herb.TypeNumber, herb.Notation{Group: ".", Decimal: ",", Affix: "€"}),
			records: []herb.Record{
				{"a", "1.234,50 €"}, {"b", "1,5"}, {"c", "€ 12"}, {"d", "-3 €"}, {"e", ""}, {"f", "1234,5"}, {"g", "1.234"}, {"h", " 1,50 "},
			},
			queries: []listQuery{
				{query: "sort=v", want: "d b h c g a f e"},
				{query: "sort=v&order=desc", want: "a f g c b h d e"},
				{query: "v=1.234,50", want: "a f"},
				{query: "v=1.5", want: "b h"},
				{query: "v=1.234", want: "g"}, // the notation of the field comes first
				{query: "v[gt]=12&v[lt]=1234,5", want: "g"},
				{query: "v[gte]=1e1", want: "a c f g"},
				{query: "v[ne]=12", want: "a b d e f g h"},
			},
			facets: []facetQuery{
				{"field=v&top=2&buckets=2", []string{"8", "v: 1 empty, 5 distinct: 1,5=2 1.234,50 €=2; -3 € to 1.234,50 €; from -2000 (1) 0 (6) 2000"}},
				{"field=v&top=0&buckets=3&v[lt]=2", []string{"3", "v: 0 empty, 2 distinct:; -3 € to 1,5; from -4 (1) -2 (0) 0 (2) 2"}},
				{"field=v&top=0&buckets=3&v[lt]=2&v[gt]=0", []string{"2", "v: 0 empty, 1 distinct:; 1,5 to 1,5; from 1,5 (2) 1,6"}},
			},
		},
		{
			name:   "exponents",
			fields: written(herb.TypeNumber, herb.Notation{}),
			records: []herb.Record{
				{"a", "9900"}, {"b", "4e+06"}, {"c", "1.5E-3"}, {"d", "4000000"}, {"e", "+3"}, {"f", ".5"}, {"g", "9e-400"},
			},
			queries: []listQuery{
				{query: "sort=v&order=desc", want: "b d a e f c g"},
				{query: "v=4e6", want: "b d"},
				{query: "v=0.0015", want: "c"},
				{query: "v[lt]=1e-100", want: "g"},
				{query: "v=3", want: "e"},
			},
		},
		{
			name:   "missing values",
			fields: written(herb.TypeNumber, herb.Notation{Missing: []string{"--", "NA"}}),
			records: []herb.Record{
				{"a", "NA"}, {"b", "2"}, {"c", ""}, {"d", "--"}, {"e", "1"}, {"f", "NA"}, {"g", " "}, {"h", " NA"}, {"i", "-1"},
			},
			queries: []listQuery{
				{query: "sort=v", want: "i e b d a f h c g"},
				{query: "sort=v&order=desc", want: "b e i d a f h c g"},
				{query: "sort=v&order=desc&per_page=3&page=2", want: "d a f", total: 9},
				{query: "v=NA", want: "a f h"},
				{query: "v=--", want: "d"},
				{query: "v=", want: "c g"},
				{query: "v[empty]=true", want: "a c d f g h"},
				{query: "v[empty]=false", want: "b e i"},
				{query: "v[empty]=true&sort=v", want: "d a f h c g"},
				{query: "v[ne]=NA", want: "b c d e g i"},
				{query: "v[ne]=1", want: "a b c d f g h i"},
				{query: "v[in]=NA,1,", want: "a c e f g h"},
				{query: "v[gt]=0", want: "b e"},
				{query: "v[lte]=1000", want: "b e i"},
				{query: "v[gte]=-5&sort=v&order=desc", want: "b e i"},
			},
			facets: []facetQuery{
				{"field=v", []string{"9", "v: 6 empty, 3 distinct: -1=1 1=1 2=1; -1 to 2; from -1 (1) 0 (0) 1 (1) 2 (1) 3"}},
				{"field=v&v=NA", []string{"3", "v: 3 empty, 0 distinct:"}},
				{"field=v&id[in]=a,b,d", []string{"3", "v: 2 empty, 1 distinct: 2=1; 2 to 2; from 2 (1) 3"}},
			},
		},
		{
			name:   "dates in other notations",
			fields: written(herb.TypeDate, herb.Notation{Layout: "%d/%m/%Y", Missing: []string{"?"}}),
			records: []herb.Record{
				{"a", "1/2/2024"}, {"b", "31/12/2023"}, {"c", "?"}, {"d", "01/02/2024"}, {"e", "2/1/2024"},
			},
			queries: []listQuery{
				{query: "sort=v", want: "b e a d c"},
				{query: "v=1/2/2024", want: "a d"},
				{query: "v=2024-02-01", want: "a d"},
				{query: "v[gte]=2024-01-01", want: "a d e"},
				{query: "v[lt]=1/1/2024", want: "b"},
				{query: "v[prefix]=2024-0", want: "a d e"},
				{query: "v=?", want: "c"},
			},
			facets: []facetQuery{
				{"field=v&buckets=3", []string{"5", "v: 1 empty, 3 distinct: 1/2/2024=2 31/12/2023=1 2/1/2024=1; 31/12/2023 to 1/2/2024; " +
					"from 2023-12-01 (1) 2024-01-01 (1) 2024-02-01 (2) 2024-03-01"}},
			},
		},
		{
			name:   "datetimes",
			fields: written(herb.TypeDateTime, herb.Notation{}),
			records: []herb.Record{
				{"a", "2024-02-29T10:00:00Z"}, {"b", "2024-02-29 11:00:00+01:00"}, {"c", ""}, {"d", "2024-02-29T10:00:00.5Z"}, {"e", "2024-03-01T00:30+01:00"},
				{"f", "2024-02-29"}, {"g", "2024-02-29 10:01"},
			},
			queries: []listQuery{
				{query: "sort=v", want: "f a b d g e c"},
				{query: "sort=v&order=desc", want: "e g d a b f c"},
				{query: "v=2024-02-29T10:00:00Z", want: "a b"},
				{query: "v=2024-02-29T12:00:00%2B0200", want: "a b"},
				{query: "v=2024-02-29", want: "f"},
				{query: "v[gt]=2024-02-29", want: "a b d e g"},
				{query: "v[lt]=2024-03-01", want: "a b d e f g"},
				{query: "v[gte]=2024-02-29T10:00:00.1Z&v[lte]=2024-02-29T10:01", want: "d g"},
				{query: "v[prefix]=2024-02-29+10:00", want: "a b d"},
				{query: "v[prefix]=2024-03", want: ""},
				{query: "v[empty]=true", want: "c"},
			},
			facets: []facetQuery{
				{"field=v&top=1&buckets=3&v[lt]=2024-02-29T12:00&v[gt]=2024-02-29", []string{
					"4", "v: 0 empty, 3 distinct: 2024-02-29T10:00:00Z=2; 2024-02-29T10:00:00Z to 2024-02-29 10:01; " +
						"from 2024-02-29T10:00:00Z (3) 2024-02-29T10:01:00Z (1) 2024-02-29T10:02:00Z",
				}},
				{"field=v&top=0&buckets=4", []string{
					"7", "v: 1 empty, 5 distinct:; 2024-02-29 to 2024-03-01T00:30+01:00; from 2024-02-29T00:00:00Z (1) 2024-02-29T06:00:00Z (4) " +
						"2024-02-29T12:00:00Z (0) 2024-02-29T18:00:00Z (1) 2024-03-01T00:00:00Z",
				}},
			},
		},
		{
			name:   "booleans",
			fields: written(herb.TypeBoolean, herb.Notation{Missing: []string{"N/A"}}),
			records: []herb.Record{
				{"a", "Yes"}, {"b", "no"}, {"c", "yes"}, {"d", "N/A"}, {"e", ""}, {"f", "YES"},
			},
			queries: []listQuery{
				{query: "v=true", want: "a c f"},
				{query: "v=YES", want: "a c f"},
				{query: "v=false", want: "b"},
				{query: "v[ne]=false", want: "a c d e f"},
				{query: "v=N/A", want: "d"},
				{query: "sort=v", want: "b a c f d e"},
				{query: "sort=v&order=desc", want: "a c f b d e"},
				{query: "v[gt]=no", want: "a c f"},
			},
			facets: []facetQuery{{"field=v", []string{"6", "v: 2 empty, 2 distinct: Yes=3 no=1"}}},
		},
	}
}

package listtest

import "herbarium/internal/herb"

// searchCases cover phrases, prefixes, codes and the order by relevance.
func searchCases() []testCase {
	return []testCase{
		{
			name:   "phrases",
			fields: []herb.Field{field("id", herb.TypeNumber), field("t", herb.TypeText), field("u", herb.TypeText)},
			records: []herb.Record{
				{"1", "part AB-12/7 spare", ""},
				{"2", "AB-127", ""},
				{"3", "12/7 AB", ""},
				{"4", "ab 12 7", ""},
				{"5", "AB-12", "7"},
				{"6", "the the the", "the"},
				{"7", "an old, old rose", "bush"},
				{"8", "old", "rose bush"},
			},
			queries: []listQuery{
				{query: "search=AB-12/7", want: "4 1"},
				{query: "search=%22ab+12+7%22", want: "4 1"},
				{query: "search=ab+12+7", want: "3 4 5 1"}, // not a phrase: three words anywhere
				{query: "search=-AB-12/7", want: "2 3 5 6 7 8"},
				{query: "search=AB-12*", want: "2 4 5 1"},
				{query: "search=AB-1*&sort=id", want: "1 2 4 5"},
				{query: "search=%22the+the%22", want: "6"},
				{query: "search=%22the+the+the+the%22", want: ""},
				{query: "search=%22old+rose%22", want: "7"},
				{query: "search=%22rose+bush%22", want: "8"},
				{query: "search=old+rose+bush", want: "8 7"},
				{query: "search=%22old+ro%22*", want: "7"},
				{query: "search=%E2%80%9Cold+rose%E2%80%9D", want: "7"}, // typographic quotation marks
				{query: "search=%22old+rose", want: "8 7"},              // an unclosed quotation mark is ignored
				{query: "search=%22old+rose%22+bush", want: "7"},
				{query: "search=old+-%22rose+bush%22", want: "7"},
				{query: "search=old+old+old&sort=id", want: "7 8"}, // duplicate words count once
			},
		},
		{
			name:   "relevance",
			fields: named(field("t", herb.TypeText)),
			records: []herb.Record{
				{"a", "rose lily lily"},
				{"b", "rose rose lily"},
				{"c", "tulip"},
				{"d", "lily lily rose"},
				{"e", "rose"},
				{"f", "rose with many more words behind it"},
				{"g", ""},
				{"h", "rose and tulip"},
			},
			queries: []listQuery{
				{query: "search=lily", want: "a d b"},       // higher term frequency first; ties in dataset order
				{query: "search=rose", want: "e b a d h f"}, // once in one word, twice in three, once in three, once in seven
				{query: "search=tulip", want: "c h"},        // shorter records first
				{query: "search=rose+lily", want: "a d b"},  // lily is rarer and has more weight
				{query: "search=rose&t[ne]=rose", want: "b a d h f"},
				{query: "search=rose&per_page=2&page=2", want: "a d", total: 6},
				{query: "search=rose&order=desc", want: "e b a d h f"}, // order has no effect without sort
				{query: "search=rose&sort=t", want: "d e h a b f"},
				{query: "search=-rose", want: "c g"},
				{query: "search=r*+-lil*", want: "e h f"},
			},
		},
		{
			name: "nothing searchable",
			fields: []herb.Field{
				{Name: "id", Type: herb.TypeText, Filterable: true, Sortable: true},
				{Name: "n", Type: herb.TypeNumber, Searchable: true, Filterable: true},
			},
			records: []herb.Record{{"rose", "12"}, {"lily", "12.5"}, {"fern", ""}},
			queries: []listQuery{
				{query: "search=rose", want: ""},
				{query: "search=-rose", want: "rose lily fern"},
				{query: "search=12", want: "rose"}, // numbers are searched if the field is searchable
				{query: "search=12*", want: "rose lily"},
			},
		},
	}
}

package listtest

import (
	"strings"

	"herbarium/internal/herb"
)

// valueCases cover the comparison of values: numbers, codes, dates, unusual lists, and field names with a meaning in
// queries.
func valueCases() []testCase {
	return []testCase{
		{
			name:    "no records",
			fields:  named(field("n", herb.TypeNumber)),
			records: nil,
			queries: []listQuery{
				{query: ""}, {query: "page=3"}, {query: "n[gt]=1"}, {query: "n="}, {query: "sort=n"}, {query: "search=a"},
			},
		},
		{
			name:    "one record",
			fields:  named(field("tags", herb.TypeList)),
			records: []herb.Record{{"a", "x, y"}},
			queries: []listQuery{
				{query: "tags=y", want: "a"}, {query: "tags=z"}, {query: "tags[ne]=z", want: "a"},
				{query: "search=x", want: "a"}, {query: "page=2", total: 1}, {query: "sort=tags&order=desc", want: "a"},
			},
		},
		numberCase(),
		codeCase(),
		{
			name:   "dates",
			fields: named(field("d", herb.TypeDate)),
			records: []herb.Record{
				{"a", "2024-02-29"}, {"b", "0001-01-01"}, {"c", ""}, {"d", "9999-12-31"}, {"e", "2024-02-29"},
				{"f", "1999-12-31"},
			},
			queries: []listQuery{
				{query: "sort=d", want: "b f a e d c"},
				{query: "sort=d&order=desc", want: "d a e f b c"},
				{query: "d[gt]=1999-12-31", want: "a d e"},
				{query: "d[gte]=1999-12-31&d[lt]=9999-12-31", want: "a e f"},
				{query: "d[lt]=2000-02-29", want: "b f"},
				{query: "d[ne]=2024-02-29", want: "b c d f"},
				{query: "d[prefix]=2024-02-2", want: "a e"},
				{query: "d[prefix]=202402", want: ""},
			},
		},
		{
			name:   "odd lists",
			fields: named(field("l", herb.TypeList)),
			records: []herb.Record{
				{"a", "x,,y"}, {"b", " , "}, {"c", ""}, {"d", " x "}, {"e", "x y"}, {"f", "Y"},
				{"g", "\u00A0x\u00A0,z"},
			},
			queries: []listQuery{
				{query: "l=x", want: "a d g"},
				{query: "l=", want: "c"},
				{query: "l[ne]=", want: "a b d e f g"},
				{query: "l[ne]=x", want: "b c e f"},
				{query: "l=+x+", want: ""}, // elements are trimmed
				{query: "l=x+y", want: "e"},
				{query: "l[gte]=y", want: "a f g"},
				{query: "l[lte]=x", want: "a d g"},
				{query: "l[prefix]=x", want: "a d e g"},
				{query: "l[prefix]=+", want: ""},
				{query: "search=x", want: "d a e g"},
				{query: "search=%22x+y%22", want: "a e"},
			},
		},
		{
			name: "odd names",
			fields: []herb.Field{
				field("id", herb.TypeText), field("page", herb.TypeNumber), field("sort", herb.TypeText),
				field("a[b]", herb.TypeText),
				field("a", herb.TypeText), field("a[eq]", herb.TypeText), field("x y", herb.TypeText),
				field("名前", herb.TypeText),
			},
			records: []herb.Record{{"1", "2", "s", "t", "u", "v", "w", "x"}, {"2", "1", "", "", "u2", "u", "", ""}},
			queries: []listQuery{
				{query: "page[eq]=2", want: "1"},
				{query: "page[lt]=2&page=1", want: "2"},
				{query: "sort[eq]=s", want: "1"},
				{query: "sort=sort", want: "1 2"},
				{query: "sort=page", want: "2 1"},
				{query: "a[b]=t", want: "1"},
				{query: "a[b][ne]=t", want: "2"},
				{query: "a[eq]=u", want: "1"},
				{query: "a[eq][eq]=u", want: "2"},
				{query: "x+y=w", want: "1"},
				{query: "%E5%90%8D%E5%89%8D[prefix]=x", want: "1"},
			},
		},
		{
			name:    "duplicates",
			fields:  []herb.Field{field("a", herb.TypeText), field("n", herb.TypeNumber)},
			records: []herb.Record{{"x", "1"}, {"y", "1.0"}, {"x", "1"}, {"x", "1"}},
			queries: []listQuery{
				{query: "", want: "x y x x"},
				{query: "a=x", want: "x x x"},
				{query: "n=1&sort=n&order=desc", want: "x y x x"},
				{query: "sort=a&order=desc", want: "y x x x"},
				{query: "sort=a&per_page=3&page=2", want: "y", total: 4},
			},
		},
		longCase(),
	}
}

func numberCase() testCase {
	return testCase{
		name:   "numbers",
		fields: named(field("n", herb.TypeNumber)),
		records: []herb.Record{
			{"a", "9007199254740993"}, {"b", "9007199254740992"}, {"c", "9007199254740993.0"},
			{"d", "-9007199254740993"},
			{"e", "123456789012345678901234567890.5"}, {"f", "0"}, {"g", "-0"}, {"h", "0.000000000000000000001"},
			{"i", "-0.5"},
			{"j", ""}, {"k", "123456789012345678901234567890.50"}, {"l", "10"}, {"m", "9"}, {"n", "-10"}, {"o", "-9"},
			{"p", "-0.05"},
		},
		queries: []listQuery{
			{query: "sort=n", want: "d n o i p f g h m l b a c e k j"},
			{query: "sort=n&order=desc", want: "e k a c b l m h f g p i o n d j"},
			{query: "n=9007199254740993", want: "a c"},
			{query: "n=9007199254740993.000", want: "a c"},
			{query: "n=9007199254740992", want: "b"},
			{query: "n[gt]=9007199254740992", want: "a c e k"},
			{query: "n[gte]=9007199254740992&n[lt]=9007199254740993", want: "b"},
			{query: "n=123456789012345678901234567890.5", want: "e k"},
			{query: "n=123456789012345678901234567890", want: ""},
			{query: "n=0", want: "f g"},
			{query: "n=-0.0", want: "f g"},
			{query: "n[lt]=0", want: "d i n o p"},
			{query: "n[gt]=0&n[lt]=1", want: "h"},
			{query: "n[gte]=-0.5&n[lte]=0", want: "f g i p"},
			{query: "n[gt]=-9.5&n[lt]=-0.04", want: "i o p"},
			{query: "n[ne]=0&n[lt]=9", want: "d h i n o p"},
			{query: "n[in]=9,10,-9.0", want: "l m o"},
			{query: "n[empty]=true", want: "j"},
		},
	}
}

// codeCase has codes that look like numbers but are text: every character is significant.
func codeCase() testCase {
	return testCase{
		name:    "codes",
		fields:  named(field("code", herb.TypeText)),
		records: []herb.Record{{"a", "42"}, {"b", "00042"}, {"c", "042"}, {"d", "1e5"}, {"e", "100000"}, {"f", "42.0"}},
		queries: []listQuery{
			{query: "code=42", want: "a"},
			{query: "code=00042", want: "b"},
			{query: "code=100000", want: "e"},
			{query: "code[prefix]=0", want: "b c"},
			{query: "code[prefix]=42", want: "a f"},
			{query: "sort=code", want: "b c e d a f"},
			{query: "search=42", want: "a"},
			{query: "search=00042", want: "b"},
			{query: "search=0*", want: "b c"},
			{query: "search=1E5", want: "d"},
		},
	}
}

func longCase() testCase {
	long := strings.Repeat("lorem ipsum ", 5_000)
	wide := strings.Repeat("x", 20_000)
	return testCase{
		name:   "very long values",
		fields: named(field("t", herb.TypeText)),
		records: []herb.Record{
			{"a", long + "needle"}, {"b", wide}, {"c", "needle"}, {"d", wide + "y"}, {"e", strings.Repeat("z", 2000)},
		},
		queries: []listQuery{
			{query: "search=needle", want: "c a"},
			{query: "search=%22ipsum+needle%22", want: "a"},
			{query: "search=%22ipsum+lorem%22&per_page=1", want: "a"},
			{query: "search=xx*", want: "b d"},
			{query: "search=-lorem", want: "b c d e"},
			{query: "t=" + strings.Repeat("z", 2000), want: "e"},
			{query: "t[prefix]=" + strings.Repeat("x", 4000), want: "b d"},
			{query: "t[prefix]=" + strings.Repeat("z", 2001), want: ""},
			{query: "sort=t", want: "a c b d e"},
			{query: "sort=t&order=desc", want: "e d b c a"},
			{query: "t[gt]=x", want: "b d e"},
		},
	}
}

package listtest

import "herbarium/internal/herb"

// textCases cover scripts and languages: sort order and search equivalence.
func textCases() []testCase {
	return []testCase{
		{
			name:   "collation",
			fields: named(field("name", herb.TypeText)),
			records: []herb.Record{
				{"a", "zed"}, {"b", ""}, {"c", "Çelik"}, {"d", "bo"}, {"e", "Ångström"}, {"f", "Ana"},
				{"g", "A\u030angstro\u0308m"},
				{"h", "ana"}, {"i", ""}, {"j", "an a"}, {"k", "Ana"}, {"l", "42"}, {"m", "植物"}, {"n", "Zed"},
				{"o", "-"},
			},
			queries: []listQuery{
				// Punctuation, digits, Latin, Han; lower before upper case; both encodings of Ångström are ties.
				{query: "sort=name", want: "o l j h f k e g d c a n m b i"},
				{query: "sort=name&order=desc", want: "m n a c d e g f k h j l o b i"},
				{query: "name=Ana", want: "f k"},
				{query: "name=%C3%85ngstr%C3%B6m", want: "e"}, // equality compares bytes
				{query: "name[gte]=%C3%85ngstr%C3%B6m&name[lte]=%C3%85ngstr%C3%B6m", want: "e g"},
				{query: "name[gt]=b&name[lt]=d", want: "c d"},
				{query: "name[gt]=Ana&name[lt]=bo", want: "e g"},
				{query: "name[lt]=ana", want: "j l o"},
				{query: "name[gt]=zed", want: "m n"},
				{query: "name[prefix]=A", want: "f g k"}, // the bytes of Å differ from those of A
			},
		},
		{
			name:   "case and accents",
			fields: named(field("t", herb.TypeText)),
			records: []herb.Record{
				{"a", "Straße"}, {"b", "STRASSE"}, {"c", "Strasse"}, {"d", "Strase"}, {"e", "GROẞ"}, {"f", "groß"},
				{"g", "İstanbul"}, {"h", "ISTANBUL"}, {"i", "istanbul"}, {"j", "ıstanbul"},
				{"k", "café"}, {"l", "cafe\u0301"}, {"m", "CAFE"}, {"n", "Ὀδυσσεύς"}, {"o", "ΟΔΥΣΣΕΥΣ"},
				{"p", "smørrebrød"}, {"q", "Łódź"}, {"r", "don’t"}, {"s", "co\u00ADoperate"}, {"t", "ﬁne"},
				{"u", "ＦＵＬＬ"},
				{"v", "Ёлка"}, {"w", "Việt"},
			},
			queries: []listQuery{
				{query: "search=strasse", want: "a b c"},
				{query: "search=Stra%C3%9Fe", want: "a b c"},
				{query: "search=gross", want: "e f"},
				{query: "search=istanbul", want: "g h i j"},
				{query: "search=ISTANBUL", want: "g h i j"},
				{query: "search=%C4%B0stanbul", want: "g h i j"},
				{query: "search=cafe", want: "k l m"},
				{query: "search=caf%C3%A9", want: "k l m"},
				{query: "search=cafe%CC%81", want: "k l m"},
				{query: "search=οδυσσευς", want: "n o"},
				{query: "search=smorrebrod", want: "p"},
				{query: "search=LODZ", want: "q"},
				{query: "search=don't", want: "r"},
				{query: "search=cooperate", want: "s"},
				{query: "search=fine", want: "t"},
				{query: "search=full", want: "u"},
				{query: "search=елка", want: "v"},
				{query: "search=viet", want: "w"},
				{query: "t=cafe", want: ""}, // a filter compares the value as written
				{query: "t=caf%C3%A9", want: "k"},
			},
		},
		{
			name:   "scripts",
			fields: named(field("t", herb.TypeText)),
			records: []herb.Record{
				{"a", "京都の植物園"}, {"b", "植物の園"}, {"c", "園植物"}, {"d", "バラ園"}, {"e", "ハラ園"}, {"f", "ﾊﾞﾗ園"},
				{"g", "हिन्दी भाषा"}, {"h", "हन्द भाषा"}, {"i", "한국어 사전"}, {"j", "שָׁלוֹם עולם"}, {"k", `צה"ל`},
				{"l", "مَرْحَبًا"},
			},
			queries: []listQuery{
				{query: "search=植物園", want: "a"},
				{query: "search=%22植物園%22", want: "a"},
				{query: "search=植+物+園", want: "c b a"}, // three words, four, six
				{query: "search=植物", want: "c b a"},
				{query: "search=園+-植物", want: "d e f"},
				{query: "search=バラ", want: "d f"},
				{query: "search=ハラ", want: "e"},
				{query: "search=バ*", want: "d f"},
				{query: "search=हिन्दी", want: "g"},
				{query: "search=हन्द", want: "h"},
				{query: "search=भाषा", want: "g h"},
				{query: "search=한국어", want: "i"},
				{query: "search=한국*", want: "i"},
				{query: "search=שלום", want: "j"},
				{query: "search=צהל", want: "k"},
				{query: "search=مرحبا", want: "l"},
				{query: "t[prefix]=植物", want: "b"},
			},
		},
		{
			name:   "emoji",
			fields: named(field("t", herb.TypeText)),
			records: []herb.Record{
				{"a", "🌹 rose"}, {"b", "rose"}, {"c", "🌹🌹"}, {"d", "👩‍🌾"}, {"e", "👩"}, {"f", "👍🏽"}, {"g", "👍"},
				{"h", "❤️"}, {"i", "❤"}, {"j", "© 2024"},
			},
			queries: []listQuery{
				{query: "search=🌹", want: "c a"},
				{query: "search=🌹+rose", want: "a"},
				{query: "search=🌹🌹", want: "c"},
				{query: "search=👩‍🌾", want: "d"},
				{query: "search=👩", want: "e d"},
				{query: "search=👍", want: "f g"},
				{query: "search=❤️", want: "h i"},
				{query: "search=©", want: ""},
				{query: "t=👍", want: "g"},
				{query: "t[prefix]=👍", want: "f g"},
				{query: "t=❤", want: "i"},
			},
		},
	}
}

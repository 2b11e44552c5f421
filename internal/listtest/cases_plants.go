package listtest

import (
	"strings"

	"herbarium/internal/herb"
)

// plantCases are valid for every engine, including those that store plants only.
func plantCases() []testCase {
	return []testCase{
		{
			name:   "plants none",
			plants: true,
			fields: herb.PlantFields(),
			queries: []listQuery{
				{query: ""}, {query: "page=2"}, {query: "tag="}, {query: "search=rose"}, {query: "sort=name&order=desc"},
			},
		},
		{
			name:    "plants one",
			fields:  herb.PlantFields(),
			plants:  true,
			records: []herb.Record{{"1", "Rose", ""}},
			queries: []listQuery{
				{query: "", want: "1"},
				{query: "page=2", want: "", total: 1},
				{query: "page=9007199254740991&per_page=100", want: "", total: 1},
				{query: "tag=", want: "1"},
				{query: "search=rose", want: "1"},
				{query: "search=-rose", want: ""},
				{query: "search=-lily", want: "1"},
				{query: "sort=tag&order=desc", want: "1"},
			},
		},
		plantGarden(),
		plantTies(),
		plantSearch(),
		plantScripts(),
		plantLong(),
		{
			name:    "plants commas",
			plants:  true,
			fields:  herb.PlantFields(),
			records: []herb.Record{{"1", "a, b", "x,y"}, {"2", "a", "y"}, {"3", " a ", "x"}, {"4", "50% _off_ 'a'", `\`}},
			queries: []listQuery{
				{query: "name=a", want: "2"}, // text is one value, including spaces and commas
				{query: "name=a,+b", want: "1"},
				{query: "name=+a+", want: "3"},
				{query: "tag=y", want: "2"},
				{query: "tag[ne]=x", want: "1 2 4"},
				{query: "tag[in]=x,y", want: "2 3"},
				{query: "tag[prefix]=x", want: "1 3"},
				{query: "name[prefix]=50%25", want: "4"},
				{query: "name[prefix]=5_", want: ""},
				{query: "name[prefix]=%25", want: ""},
				{query: "name=50%25+_off_+%27a%27", want: "4"},
				{query: "tag=%5C", want: "4"},
			},
		},
		{
			name:   "plants rarity",
			plants: true,
			fields: herb.PlantFields(),
			records: []herb.Record{
				{"1", "rose rose lily", ""}, {"2", "rose lily lily", ""}, {"3", "rose", ""}, {"4", "rose", ""},
				{"5", "rose", ""},
				{"6", "rose", ""}, {"7", "lily", ""}, {"8", "lily", ""},
			},
			queries: []listQuery{
				{query: "search=rose+lily", want: "2 1"},                // lily is rarer and has more weight
				{query: "search=rose+lily&id[in]=1,2,7,8", want: "2 1"}, // even if a filter leaves more lilies than roses
			},
		},
	}
}

func plantGarden() testCase {
	const least, most = "-9223372036854775808", "9223372036854775807"
	return testCase{
		name:   "plants garden",
		plants: true,
		fields: herb.PlantFields(),
		records: []herb.Record{
			{"42", "Rosa rugosa", "rose"},
			{"7", "Fern", ""},
			{"-3", "Rosa canina", "rose"},
			{most, "Acer palmatum", "tree"},
			{"1000", "Ångström", "fern"},
			{"25", "acer rubrum", "Tree"},
			{least, "Çelik", "rose"},
			{"0", "Rosa", ""},
		},
		queries: []listQuery{
			{query: "", want: "42 7 -3 " + most + " 1000 25 " + least + " 0"},
			{query: "order=desc", want: "42 7 -3 " + most + " 1000 25 " + least + " 0"},
			{query: "api_key=x", want: "42 7 -3 " + most + " 1000 25 " + least + " 0"},

			{query: "tag=rose", want: "42 -3 " + least},
			{query: "tag=tree", want: most},
			{query: "tag=ros", want: ""},
			{query: "tag=", want: "7 0"},
			{query: "tag=rose&tag=Tree", want: "42 -3 25 " + least},
			{query: "tag=rose&tag=", want: "42 7 -3 " + least + " 0"},
			{query: "tag=rose&name=Rosa+canina", want: "-3"},
			{query: "name=rosa", want: ""},
			{query: "name=Angstrom", want: ""},
			{query: "name=%C3%85ngstr%C3%B6m", want: "1000"},
			{query: "name[eq]=Fern", want: "7"},
			{query: "tag[ne]=rose", want: "7 " + most + " 1000 25 0"},
			{query: "tag[ne]=rose&tag[ne]=", want: most + " 1000 25"},
			{query: "tag[empty]=true", want: "7 0"},
			{query: "tag[empty]=false&id[lt]=25", want: "-3 " + least},
			{query: "tag[in]=fern,tree", want: most + " 1000"},
			{query: "tag[in]=fern,", want: "7 1000 0"},
			{query: "name[prefix]=Rosa", want: "42 -3 0"},
			{query: "name[prefix]=Rosa+", want: "42 -3"},
			{query: "name[prefix]=acer", want: "25"},
			{query: "name[prefix]=%C3%85", want: "1000"},
			{query: "tag[prefix]=t", want: most},
			{query: "name[prefix]=%25", want: ""},
			{query: "name[prefix]=_", want: ""},

			// Text comparisons follow the sort order: rose before tree before Tree, Fern before Rosa.
			{query: "tag[gt]=rose", want: most + " 25"},
			{query: "tag[gte]=rose", want: "42 -3 " + most + " 25 " + least},
			{query: "tag[gt]=tree", want: "25"},
			{query: "tag[lt]=rose", want: "1000"},
			{query: "tag[lte]=tree", want: "42 -3 " + most + " 1000 " + least},
			{query: "name[gte]=c&name[lt]=g", want: "7 " + least},
			{query: "tag[gt]=rose&tag[gt]=fern", want: "42 -3 " + most + " 25 " + least},

			{query: "id=25.0", want: "25"},
			{query: "id=25.5", want: ""},
			{query: "id=-0", want: "0"},
			{query: "id=" + most, want: most},
			{query: "id=" + most + ".000", want: most},
			{query: "id=9223372036854775808", want: ""},
			{query: "id=", want: ""},
			{query: "id[empty]=false&tag=", want: "7 0"},
			{query: "id[in]=7,25,26", want: "7 25"},
			{query: "id[ne]=7", want: "42 -3 " + most + " 1000 25 " + least + " 0"},
			{query: "id[gt]=41.9", want: "42 " + most + " 1000"},
			{query: "id[gte]=42", want: "42 " + most + " 1000"},
			{query: "id[gte]=42&id[lt]=1000", want: "42"},
			{query: "id[lt]=-2.5", want: "-3 " + least},
			{query: "id[lte]=-3", want: "-3 " + least},
			{query: "id[lt]=" + most + "&id[gt]=100", want: "1000"},
			{query: "id[lt]=99999999999999999999&id[gt]=1000", want: most},
			{query: "id[gt]=-99999999999999999999&id[lt]=-3", want: least},
			{query: "id[gt]=99999999999999999999", want: ""},

			{query: "sort=id", want: least + " -3 0 7 25 42 1000 " + most},
			{query: "sort=id&order=desc", want: most + " 1000 42 25 7 0 -3 " + least},
			{query: "sort=name", want: most + " 25 1000 " + least + " 7 0 -3 42"},
			{query: "sort=name&order=desc", want: "42 -3 0 7 " + least + " 1000 25 " + most},
			{query: "sort=tag", want: "1000 42 -3 " + least + " " + most + " 25 7 0"},
			{query: "sort=tag&order=desc", want: "25 " + most + " 42 -3 " + least + " 1000 7 0"},
			{query: "sort=tag&order=asc&tag[ne]=rose", want: "1000 " + most + " 25 7 0"},

			{query: "per_page=3", want: "42 7 -3", total: 8},
			{query: "per_page=3&page=3", want: least + " 0", total: 8},
			{query: "per_page=3&page=4", want: "", total: 8},
			{query: "per_page=1000&tag=", want: "7 0"},
			{query: "per_page=2&page=2&sort=tag&order=desc", want: "42 -3", total: 8},
			{query: "per_page=2&page=4&sort=tag&order=desc", want: "7 0", total: 8},
			{query: "per_page=2&page=2&tag=rose", want: least, total: 3},
		},
	}
}

// plantTies has one tag many times: a sort must keep dataset order within it, in both directions.
func plantTies() testCase {
	return testCase{
		name:   "plants ties",
		plants: true,
		fields: herb.PlantFields(),
		records: []herb.Record{
			{"9", "b", "x"}, {"3", "a", ""}, {"5", "b", "y"}, {"1", "b", "x"}, {"8", "a", "y"},
			{"2", "a", "x"}, {"7", "b", ""}, {"4", "a", "x"}, {"6", "b", "y"},
		},
		queries: []listQuery{
			{query: "sort=tag", want: "9 1 2 4 5 8 6 3 7"},
			{query: "sort=tag&order=desc", want: "5 8 6 9 1 2 4 3 7"},
			{query: "sort=name", want: "3 8 2 4 9 5 1 7 6"},
			{query: "sort=name&order=desc", want: "9 5 1 7 6 3 8 2 4"},
			{query: "sort=tag&order=desc&name=a", want: "8 2 4 3"},
			{query: "sort=tag&order=desc&per_page=4&page=2", want: "1 2 4 3", total: 9},
			{query: "sort=tag&order=desc&per_page=4&page=3", want: "7", total: 9},
			{query: "sort=tag&order=desc&per_page=2&page=3", want: "1 2", total: 9},
			{query: "search=b", want: "7 9 5 1 6"},
			{query: "search=b&sort=tag&order=desc", want: "5 6 9 1 7"},
		},
	}
}

func plantSearch() testCase {
	return testCase{
		name:   "plants search",
		plants: true,
		fields: herb.PlantFields(),
		records: []herb.Record{
			{"1", "climbing rose of the old garden", "climber"},
			{"2", "rose", "rose"},
			{"3", "rosemary", "herb"},
			{"4", "garden rose", "shrub"},
			{"5", "old garden fern", ""},
			{"6", "spare part AB-12/7", "code"},
			{"7", "spare part AB-127", "code"},
		},
		queries: []listQuery{
			{query: "search=rose", want: "2 4 1"}, // twice in two words, once in three, once in seven
			{query: "search=ROS%C3%89", want: "2 4 1"},
			{query: "search=ros", want: ""},
			{query: "search=ros*", want: "2 3 4 1"},
			{query: "search=rose&sort=id&order=desc", want: "4 2 1"},
			{query: "search=rose&tag=shrub", want: "4"},
			{query: "search=garden+rose", want: "4 1"},
			{query: "search=rose+garden&per_page=1&page=2", want: "1", total: 2},
			{query: "search=%22garden+rose%22", want: "4"},
			{query: "search=%22rose+garden%22", want: ""},
			{query: "search=%22rose+rose%22", want: ""}, // a phrase does not span fields
			{query: "search=%22old+gar%22*", want: "5 1"},
			{query: "search=%22old+gar%22", want: ""},
			{query: "search=garden+-rose", want: "5"},
			{query: "search=garden+-ros*", want: "5"},
			{query: "search=-rose", want: "3 5 6 7"},
			{query: "search=-%22garden+rose%22&tag[ne]=code", want: "1 2 3 5"},
			{query: "search=rose+-rose", want: ""},
			{query: "search=shrub+rose", want: "4"}, // the words may be in different fields
			{query: "search=AB-12/7", want: "6"},
			{query: "search=ab-127", want: "7"},
			{query: "search=ab", want: "7 6"},     // five words and six words
			{query: "search=ab-12*", want: "7 6"}, // 12 and 127; the record with fewer words first
			{query: "search=%21%21", want: ""},
			{query: "search=+", want: "1 2 3 4 5 6 7"},
			{query: "search=-", want: ""},
			{query: "search=rose+%21", want: "2 4 1"},
			{query: "search=%22", want: ""},
			{query: "search=*", want: ""},
		},
	}
}

func plantScripts() testCase {
	return testCase{
		name:   "plants scripts",
		plants: true,
		fields: herb.PlantFields(),
		records: []herb.Record{
			{"1", "zed", "Straße"},
			{"2", "Ångström", "STRASSE"},
			{"3", "bo", "Strase"},
			{"4", "Çelik", "İstanbul"},
			{"5", "Ana", "ISTANBUL"},
			{"6", "A\u030angstro\u0308m", "ıstanbul"},
			{"7", "京都の植物園", "🌹"},
			{"8", "植物の園", "👩‍🌾"},
		},
		queries: []listQuery{
			{query: "sort=name&id[lt]=7", want: "5 2 6 3 4 1"},
			{query: "sort=name&order=desc&id[lt]=7", want: "1 4 3 2 6 5"},
			{query: "search=angstrom", want: "2 6"},
			{query: "name=%C3%85ngstr%C3%B6m", want: "2"},
			{query: "search=strasse", want: "1 2"},
			{query: "search=STRA%C3%9FE", want: "1 2"},
			{query: "search=istanbul", want: "4 5 6"},
			{query: "search=%C4%B0STANBUL", want: "4 5 6"},
			{query: "tag=ISTANBUL", want: "5"},
			{query: "search=植物園", want: "7"},
			{query: "search=植物", want: "8 7"}, // six words and seven words
			{query: "search=園", want: "8 7"},
			{query: "search=物の", want: "8"},
			{query: "search=🌹", want: "7"},
			{query: "search=👩‍🌾", want: "8"},
			{query: "name[prefix]=植", want: "8"},
		},
	}
}

// plantLong has names of the maximum length: 255 characters of four bytes each.
func plantLong() testCase {
	long := strings.Repeat("🌹", 255)
	return testCase{
		name:   "plants long",
		plants: true,
		fields: herb.PlantFields(),
		records: []herb.Record{
			{"1", long, ""}, {"2", strings.Repeat("a", 255), strings.Repeat("b ", 127)}, {"3", "🌹", long},
		},
		queries: []listQuery{
			{query: "name=" + long, want: "1"},
			{query: "tag=" + long, want: "3"},
			{query: "name[prefix]=" + strings.Repeat("a", 254), want: "2"},
			{query: "name[prefix]=" + strings.Repeat("a", 256), want: ""},
			{query: "search=" + strings.Repeat("a", 255), want: "2"},
			{query: "search=🌹🌹", want: "1 3"}, // 254 occurrences each, the shorter first
			{query: "search=%22b+b%22", want: "2"},
			{query: "sort=name&order=desc", want: "2 1 3"},
		},
	}
}

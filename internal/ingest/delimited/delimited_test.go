package delimited

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/testseed"
)

type (
	memory = rowstest.Stream
	cells  = [][]string
)

// read returns the header and the records of a file.
func read(t testing.TB, m memory, o rows.Options, l rows.Limits) (got cells, notes []string, err error) {
	t.Helper()
	f := Format()
	if strings.HasSuffix(m.Base, ".tsv") {
		f = TSV()
	}
	r, err := rowstest.Read(t.Context(), f, m, o, l)
	return r.Rows, r.Notes, err
}

// checkRows reads a file at once and byte by byte.
func checkRows(t *testing.T, name string, m memory, o rows.Options, want cells) {
	t.Helper()
	for how, wrap := range rowstest.Wraps() {
		wrapped := m
		wrapped.Wrap = wrap
		t.Run(name+"/"+how, func(t *testing.T) {
			t.Parallel()
			if got, _, err := read(t, wrapped, o, rows.Limits{}); err != nil || !cmp.Equal(want, got) {
				t.Errorf("error %v, rows (-want +got):\n%s", err, cmp.Diff(want, got))
			}
		})
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		want     cells
	}{
		{"plain", "a,b\n1,2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"no line end at the end", "a,b\n1,2", cells{{"a", "b"}, {"1", "2"}}},
		{"Ctrl-Z at the end", "a,b\n1,2\r\n\x1A", cells{{"a", "b"}, {"1", "2"}}},
		{"Ctrl-Z after a record", "a,b\n1,\x1A2\x1A", cells{{"a", "b"}, {"1", "\x1A2"}}},
		{"header only", "a,b\n", cells{{"a", "b"}}},
		{"header only, no line end", "a,b", cells{{"a", "b"}}},
		{"carriage return and line feed", "a,b\r\n1,2\r\n", cells{{"a", "b"}, {"1", "2"}}},
		{"lone carriage return", "a,b\r1,2\r3,4", cells{{"a", "b"}, {"1", "2"}, {"3", "4"}}},
		{"mixed line ends", "a,b\r1,2\n3,4\r\n5,6", cells{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6"}}},
		{"byte order mark", "\xEF\xBB\xBFa,b\n1,2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"byte order mark before a quote", "\xEF\xBB\xBF\"a\",b\n", cells{{"a", "b"}}},
		{"byte order mark inside", "a,b\n\xEF\xBB\xBF1,2\n", cells{{"a", "b"}, {"\uFEFF1", "2"}}},
		{"quotes", "a,b\n\"1,\"\"x\"\"\",\"\"\n", cells{{"a", "b"}, {`1,"x"`, ""}}},
		{"only quotes", "a\n\"\"\"\"\n\"\"\"\"\"\"\n", cells{{"a"}, {`"`}, {`""`}}},
		{"line ends in quotes", "a,b\n\"x\r\ny\",\"\n\r\r\n\"\n", cells{{"a", "b"}, {"x\r\ny", "\n\r\r\n"}}},
		{"quote inside a plain value", "a,b\n5\" pot,x\"y\"\n", cells{{"a", "b"}, {`5" pot`, `x"y"`}}},
		{"quote after a blank", "a,b\n \"x\",y\n", cells{{"a", "b"}, {"x", "y"}}},
		{"quotes after blanks around delimiters", "\"a\",  \"b\"\n 1,  \"x, \\\"y\\\"\"\n",
			cells{{"a", "b"}, {"1", `x, "y"`}}},
		{"quote after a blank within a value", "a,b\n\"x, \"\"y\"\"\", z\n", cells{{"a", "b"}, {`x, "y"`, " z"}}},
		{"blanks", "a,b\n x ,\ty\t\n", cells{{"a", "b"}, {" x ", "\ty\t"}}},
		{"short records", "a,b,c\n1\n1,2\n", cells{{"a", "b", "c"}, {"1"}, {"1", "2"}}},
		{"empty values", "a,b,c\n,,\n1,,3\n,", cells{{"a", "b", "c"}, {"1", "", "3"}}},
		{"additional values that are empty", "a;b\n;;;\n1;2;\n", cells{{"a", "b"}, {"1", "2"}}},
		{"quoted empty values", "a,b\n\"\",\"\"\n1,2\n", cells{{"a", "b"}, {"", ""}, {"1", "2"}}},
		{"blank lines", "\n\r\na\n\n1\r\n\r\n\r2\n\n", cells{{"a"}, {"1"}, {"2"}}},
		{"empty value in quotes", "a\n\"\"\n1\n", cells{{"a"}, {""}, {"1"}}},
		{"line of blanks", "a\n \n", cells{{"a"}, {" "}}},
		{"semicolons", "a;b\n1,5;2\n", cells{{"a", "b"}, {"1,5", "2"}}},
		{"tabs", "a\tb\n1\t2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"bars", "a|b\n1|2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"comma preferred", "a;b;c,d\n1,2\n", cells{{"a;b;c", "d"}, {"1", "2"}}},
		{"comma in quotes", "\"a,b\";c\n1;2\n", cells{{"a,b", "c"}, {"1", "2"}}},
		{"comma in quotes with quotes", "\"a\"\",b\";c\n1;2\n", cells{{`a",b`, "c"}, {"1", "2"}}},
		{"quote inside a plain name", "5\" pot;b\n1;2\n", cells{{`5" pot`, "b"}, {"1", "2"}}},
		{"most frequent delimiter", "a|b;c;d\n1;2;3\n", cells{{"a|b", "c", "d"}, {"1", "2", "3"}}},
		{"delimiter after blank lines", "\n\na;b\n1;2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"blanks around names", " a , b\n1,2\n", cells{{"a", "b"}, {"1", "2"}}},
		{"zero bytes", "a\n\x00\n", cells{{"a"}, {"\x00"}}},
		{"characters of all lengths", "å,植\n🌱,é\n", cells{{"å", "植"}, {"🌱", "é"}}},
		{"decimal commas", "name;price;note\nfern;1,50;x, y\nmoss;2,25;\n",
			cells{{"name", "price", "note"}, {"fern", "1,50", "x, y"}, {"moss", "2,25", ""}}},
		{"decimal commas and a comma in a name", "id;name, first;price\n1;x;1,5\n2;y;2,5\n",
			cells{{"id", "name, first", "price"}, {"1", "x", "1,5"}, {"2", "y", "2,5"}}},
		{"commas in quoted names", "\"a,b\";\"c,d\"\n1;2\n", cells{{"a,b", "c,d"}, {"1", "2"}}},
		{"separator line", "sep=;\r\na,b;c\r\n1,5;2\r\n", cells{{"a,b", "c"}, {"1,5", "2"}}},
		{"separator line in quotes with a tab", "\"SEP=\t\"\na\tb\n1,2\t3\n", cells{{"a", "b"}, {"1,2", "3"}}},
		{"tabs and commas", "a\tb, c\n1\tx, y\n2\tz\n", cells{{"a", "b, c"}, {"1", "x, y"}, {"2", "z"}}},
		{"bars, commas and semicolons", "a|b\n1,2|3;4\n5|6\n", cells{{"a", "b"}, {"1,2", "3;4"}, {"5", "6"}}},
		{"one column of addresses", "address\n1 Main St, Springfield\n2 High St, Flat 3, York\nNowhere\n",
			cells{{"address"}, {"1 Main St, Springfield"}, {"2 High St, Flat 3, York"}, {"Nowhere"}}},
		{"one column of addresses, comma in its name", "Street, city\nA, B, C\nD, E, F\nG\nH, I, J, K\n",
			cells{{"Street, city"}, {"A, B, C"}, {"D, E, F"}, {"G"}, {"H, I, J, K"}}},
		{"one column of sentences", "city\nBerlin, Germany\nParis, France\n",
			cells{{"city"}, {"Berlin, Germany"}, {"Paris, France"}}},
		{"one column of words", "species\nRosa canina\nBellis perennis\n",
			cells{{"species"}, {"Rosa canina"}, {"Bellis perennis"}}},
		{"apostrophes", "a,b\n'tis,it's\n'n/a',x\n'n/a',y\n",
			cells{{"a", "b"}, {"'tis", "it's"}, {"'n/a'", "x"}, {"'n/a'", "y"}}},
		{"brackets in the header", "[a],{b}\n1,2\n", cells{{"[a]", "{b}"}, {"1", "2"}}},
		{"repeated and empty names", "id,,name,name\n1,2,3,4\n",
			cells{{"id", "", "name", "name"}, {"1", "2", "3", "4"}}},
	}
	for _, tt := range tests {
		checkRows(t, tt.name, memory{Base: "a.csv", Content: tt.in}, rows.Options{}, tt.want)
	}
}

// TestOpen_Layout reads files with features beyond RFC 4180. note is part of the notes, empty if
// there are none.
func TestOpen_Layout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in string
		want           cells
		note           string
	}{
		{"no header: decimals", "iris.data", "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-setosa\n4.7,3.2,Iris-setosa\n",
			cells{{"column_1", "column_2", "column_3"}, {"5.1", "3.5", "Iris-setosa"}, {"4.9", "3.0", "Iris-setosa"},
				{"4.7", "3.2", "Iris-setosa"}}, "no header: "},
		{"no header: a value that recurs in most records", "a.tab",
			"# zones\nXX\tMidway\n# +13\n# +14\nXX\tTonga\nXX\tApia\n",
			cells{{"column_1", "column_2"}, {"XX", "Midway"}, {"XX", "Tonga"}, {"XX", "Apia"}}, "no header: line 2"},
		{"a name that most records have, numbers below another", "a.csv", "a,n\na,1\na,2\nb,3\n",
			cells{{"a", "n"}, {"a", "1"}, {"a", "2"}, {"b", "3"}}, "little distinguishes"},
		{"a name that recurs in some records", "a.csv", "code,name\nx,name\ny,b\nz,c\n",
			cells{{"code", "name"}, {"x", "name"}, {"y", "b"}, {"z", "c"}}, "little distinguishes"},
		{"no header: a first record that is shorter than most", "a.csv",
			"\"NAME\",\"RT\",1,\"Type, of " +
				"record\"\n\"VAL\",\"RT\",1,\"H\",\"Housing\"\n\"VAL\",\"RT\",1,\"P\",\"Person\"\n",
			cells{{"column_1", "column_2", "column_3", "column_4", "column_5"}, {"NAME", "RT", "1", "Type, of record"},
				{"VAL", "RT", "1", "H", "Housing"}, {"VAL", "RT", "1", "P", "Person"}}, "no header: "},
		{"no header: integers and blanks", "adult.data",
			"39, State-gov, 77516\n50, Private, 83311\n38, Private, 215646\n",
			cells{{"column_1", "column_2", "column_3"}, {"39", " State-gov", " 77516"}, {"50", " Private", " 83311"},
				{"38", " Private", " 215646"}}, "no header: "},
		{"no header: dates", "a.csv", "2024-01-01;x\n2024-01-02;y\n2024-01-03;z\n",
			cells{{"column_1", "column_2"}, {"2024-01-01", "x"}, {"2024-01-02", "y"}, {"2024-01-03", "z"}},
			"no header"},
		{"no header: recurring words", "a.csv", "p,x,s\ne,x,s\np,b,s\ne,x,y\n",
			cells{{"column_1", "column_2", "column_3"}, {"p", "x", "s"}, {"e", "x", "s"}, {"p", "b", "s"},
				{"e", "x", "y"}}, "no header"},
		{"no header: negative number", "a.tsv", "x\t-5\ny\t3\nz\tNA\nw\t1\n",
			cells{{"column_1", "column_2"}, {"x", "-5"}, {"y", "3"}, {"z", "NA"}, {"w", "1"}}, "no header"},
		{"header: years", "a.csv", "country,1990,1991,1992\nFrance,1.5,2,3\nChad,4,5,6\n",
			cells{{"country", "1990", "1991", "1992"}, {"France", "1.5", "2", "3"}, {"Chad", "4", "5", "6"}}, ""},
		{"header: one year", "a.csv", "district,2022\nAK-1,-14.6\nAL-1,30\nAL-2,31.5\n",
			cells{{"district", "2022"}, {"AK-1", "-14.6"}, {"AL-1", "30"}, {"AL-2", "31.5"}}, ""},
		{"no header: years", "a.csv", "2001,5\n2002,9\n2003,7\n",
			cells{{"column_1", "column_2"}, {"2001", "5"}, {"2002", "9"}, {"2003", "7"}}, "no header"},
		{"header: irregular years", "a.csv", "country,1990,2000,2005\nFrance,1,2,3\nChad,4,5,6\n",
			cells{{"country", "1990", "2000", "2005"}, {"France", "1", "2", "3"}, {"Chad", "4", "5", "6"}}, ""},
		{"header: numbers from 0", "a.csv", ",0,1,2\n0,7,5,9\n1,3,2,2\n2,1,1,0\n",
			cells{{"", "0", "1", "2"}, {"0", "7", "5", "9"}, {"1", "3", "2", "2"}, {"2", "1", "1", "0"}}, ""},
		{"header: dates above numbers", "a.csv", "place,1/22/20,1/23/20\nx,0,1\ny,2,3\n",
			cells{{"place", "1/22/20", "1/23/20"}, {"x", "0", "1"}, {"y", "2", "3"}}, ""},
		{"header: increasing numbers", "a.csv", "p,5,25,50,75,95\nx,9,8,7,1,2\ny,1,2,3,1,2\n",
			cells{{"p", "5", "25", "50", "75", "95"}, {"x", "9", "8", "7", "1", "2"}, {"y", "1", "2", "3", "1", "2"}},
			""},
		{"header: only text", "a.csv", "name,color\nrose,red\nfern,green\n",
			cells{{"name", "color"}, {"rose", "red"}, {"fern", "green"}}, "little distinguishes"},
		{"no header: two numbers", "a.csv", "1\n2\n", cells{{"column_1"}, {"1"}, {"2"}}, "no header"},
		{"no header: texts recur beside codes", "a.csv",
			"AD,02,Canillo,Parish\nAD,03,Encamp,Parish\nAE,AJ,Ajman,Emirate\nAE,SH,Sharjah,Emirate\n",
			cells{{"column_1", "column_2", "column_3", "column_4"}, {"AD", "02", "Canillo", "Parish"},
				{"AD", "03", "Encamp", "Parish"}, {"AE", "AJ", "Ajman", "Emirate"}, {"AE", "SH", "Sharjah", "Emirate"}},
			"no header"},
		{"no header: two records of numbers", "a.csv", "5,2\n3,4\n",
			cells{{"column_1", "column_2"}, {"5", "2"}, {"3", "4"}}, "no header"},
		{"header: repeated in the text", "a.csv", "name,color\nrose,red\nname,color\nfern,green\n",
			cells{{"name", "color"}, {"rose", "red"}, {"name", "color"}, {"fern", "green"}}, "little distinguishes"},
		{"no header: equal texts", "a.csv", "s,s\ns,s\ns,s\n", cells{{"column_1", "column_2"}, {"s", "s"}, {"s", "s"},
			{"s", "s"}}, "no header"},
		{"no header: equal numbers", "a.csv", "1,2\n1,2\nx,3\n", cells{{"column_1", "column_2"}, {"1", "2"}, {"1", "2"},
			{"x", "3"}}, "no header"},
		{"header: repeated above numbers", "a.csv", "name,n\nrose,1\nname,n\nfern,2\n",
			cells{{"name", "n"}, {"rose", "1"}, {"fern", "2"}}, "3 (repeats the header: "},
		{"groups above the header", "a.csv", ",Boys,,Girls,\nSchool,2019,2020,2019,2020\nA,1,2,3,4\nB,5,6,7,8\n",
			cells{{"School", "Boys 2019", "Boys 2020", "Girls 2019", "Girls 2020"}, {"A", "1", "2", "3", "4"},
				{"B", "5", "6", "7", "8"}}, "lines 1 and 2 name the columns together"},
		{"survey", "a.csv", "id,Age?,Why?\n,Response,Response\n1,old,x\n2,young,y\n3,old,y\n4,old,x\n5,young,y\n",
			cells{{"id", "Age? Response", "Why? Response"}, {"1", "old", "x"}, {"2", "young", "y"}, {"3", "old", "y"},
				{"4", "old", "x"}, {"5", "young", "y"}}, "lines 1 and 2 name the columns together"},
		{"groups repeated", "a.csv", ",In,,Out,\nid,x,y,x,y\nA,1,2,3,4\n,In,,Out,\nid,x,y,x,y\nB,5,6,7,8\n",
			cells{{"id", "In x", "In y", "Out x", "Out y"}, {"A", "1", "2", "3", "4"}, {"B", "5", "6", "7", "8"}},
			"4 (repeats the header: In | Out), 5 (repeats the header: "},
		{"groups and columns without a name", "a.csv", ",Boys,,Girls,,\nid,n,m,n,m,\na,1,2,3,4,5\nb,5,6,7,8,9\n",
			cells{{"id", "Boys n", "Boys m", "Girls n", "Girls m", ""}, {"a", "1", "2", "3", "4", "5"},
				{"b", "5", "6", "7", "8", "9"}}, "name the columns together"},
		{"footnotes with delimiters", "a.csv",
			"Births\n\nyear,n\n2001,1\n2002,2\n\nSource: a, 2019, own calculations\n",
			cells{{"year", "n"}, {"2001", "1"}, {"2002", "2"}}, "7 (footnote: Source: a | 2019 | own calculations)"},
		{"units below the header", "a.csv", "id,mass,speed\n,kg,m/s\na,1,2\nb,3,4\n",
			cells{{"id", "mass kg", "speed m/s"}, {"a", "1", "2"}, {"b", "3", "4"}},
			"header: lines 1 and 2 name the columns together; set header=2 if only the last one does"},
		{"footnotes below the table", "a.csv", "id,n\na,1\nb,2\n\n\"Source:\nthe garden\",\n* estimated\n",
			cells{{"id", "n"}, {"a", "1"}, {"b", "2"}}, "5 (footnote: Source: the garden), 7 (footnote: * estimated)"},
		{"comments above the header", "a.csv", "# a \"comment, \n#\n\nid,name\n1,fern\n",
			cells{{"id", "name"}, {"1", "fern"}}, "(begins with #: "},
		{"percent comments", "a.dat", "% x\nid,name\n1,fern\n", cells{{"id", "name"}, {"1", "fern"}},
			"1 (begins with %: % x)"},
		{"comments above no header", "a.txt", "# a, b\n1.5,2\n2.5,3\n3.5,4\n",
			cells{{"# a", "b"}, {"1.5", "2"}, {"2.5", "3"}, {"3.5", "4"}}, ""},
		{"header in a comment", "a.tsv", "## version\n#CHROM\tPOS\nchr1\t5\nchr2\t6\n",
			cells{{"#CHROM", "POS"}, {"chr1", "5"}, {"chr2", "6"}}, "(begins with #: "},
		{"hash as a name", "a.csv", "#,name\n1,fern\n2,moss\n", cells{{"#", "name"}, {"1", "fern"}, {"2", "moss"}}, ""},
		{"lines of blanks", "a.csv", "id,name\n  \n1,fern\n \t\n2,moss\n",
			cells{{"id", "name"}, {"1", "fern"}, {"2", "moss"}}, ""},
		{"comments with commas among the records", "a.csv", "# x\nid,name,z\n1,fern,2\n# more, text\n2,moss,2\n",
			cells{{"id", "name", "z"}, {"1", "fern", "2"}, {"2", "moss", "2"}}, "4 (begins with #: "},
		{"comments among the records", "a.csv", "# x\nid,name\n1,fern\n# more\n2,moss\n#3,hash\n",
			cells{{"id", "name"}, {"1", "fern"}, {"2", "moss"}, {"#3", "hash"}}, "4 (begins with #: "},
		{"hash without comments above", "a.csv", "id,name\n#1\n#2,b\n", cells{{"id", "name"}, {"#1"}, {"#2", "b"}}, ""},
		{"hashtags in the first records", "a.csv", "#tag,n\n#go,5\nrust,7\n",
			cells{{"#tag", "n"}, {"#go", "5"}, {"rust", "7"}}, ""},
		{"comments of the width of the table", "a.tsv", "#Id\tSize\n#TEXT\tNUMBER\nID\tSIZE\nx-1\t5\nx-2\t6\n",
			cells{{"ID", "SIZE"}, {"x-1", "5"}, {"x-2", "6"}}, "(begins with #: "},
		{"blank surplus values", "a.csv", "\"a\";\"b\"\n\"1\";\"2\";\"\n\"\n3;4; \n",
			cells{{"a", "b"}, {"1", "2"}, {"3", "4"}},
			"in 2 records, the first in line 2, there are more values than columns"},
		{"row names beside whole numbers", "a.csv", "Ad,Web,Mail\nVisit,98,1310,6505\nBuy,30,609,2234\n",
			cells{{"row", "Ad", "Web", "Mail"}, {"Visit", "98", "1310", "6505"}, {"Buy", "30", "609", "2234"}},
			`called "row"`},
		{"row numbers beside whole numbers", "a.csv", "Ad,Web,Mail\n7,98,1310,6505\n9,30,609,2234\n",
			cells{{"row", "Ad", "Web", "Mail"}, {"7", "98", "1310", "6505"}, {"9", "30", "609", "2234"}},
			`called "row"`},
		{"only hashes", "a.csv", "#ff0000,red\n#00ff00,green\n", cells{{"#ff0000", "red"}, {"#00ff00", "green"}},
			"little distinguishes"},
		{"title above the header", "a.csv", "Plants of 2024\n\nid,name,price\n1,fern,2\n2,moss,3\n",
			cells{{"id", "name", "price"}, {"1", "fern", "2"}, {"2", "moss", "3"}}, "(above the table: "},
		{"numbers above another table", "a.csv", "Data,\n7,\n3.5,\n,\nFormula,Result\n3,first\n5,second\n",
			cells{{"Data", ""}, {"7", ""}, {"3.5", ""}},
			"only the first of 2 tables is published; others begin at line 5 (Formula | Result)"},
		{"title with commas", "a.csv", "Plants, trees, and shrubs of all, kinds\nid,name,price\n1,fern,2\n2,moss,3\n",
			cells{{"id", "name", "price"}, {"1", "fern", "2"}, {"2", "moss", "3"}}, "(above the table: "},
		{"padded titles", "a.csv", "Report,,,\nDate:,2024-01-01,,\n,,,\nRegion,Q1,Q2,Q3\nNorth,1,2,3\nSouth,4,5,6\n",
			cells{{"Region", "Q1", "Q2", "Q3"}, {"North", "1", "2", "3"}, {"South", "4", "5", "6"}},
			"(above the table: "},
		{"title above labels and values", "a.csv", "Tractor Loan,\n,\nAmount,\"$30,000\"\nRate,5\n,\n",
			cells{{"Tractor Loan", ""}, {"Amount", "$30,000"}, {"Rate", "5"}}, "2 (no value), 5 (no value)"},
		{"numbered header above text", "a.csv", "1,2,3\nABS,2,5\nSUM,x,6\nMAX,3,7\n",
			cells{{"1", "2", "3"}, {"ABS", "2", "5"}, {"SUM", "x", "6"}, {"MAX", "3", "7"}}, ""},
		{"one column with a hash", "a.dat", "#data\nfern\nmoss\n", cells{{"#data"}, {"fern"}, {"moss"}}, ""},
		{"one column with a comment", "a.dat", "# data\nfern\nmoss\n", cells{{"column_1"}, {"fern"}, {"moss"}},
			"(begins with #: "},
		{"a list of words", "a.txt", "fern\nmoss\nrose\n", cells{{"column_1"}, {"fern"}, {"moss"}, {"rose"}},
			"no header: "},
		{"a list of words in a table", "a.csv", "fern\nmoss\nrose\n", cells{{"fern"}, {"moss"}, {"rose"}},
			"little distinguishes"},
		{"a name above numbers", "a.txt", "n\n1.5\n2\n", cells{{"n"}, {"1.5"}, {"2"}}, ""},
		{"title, delimiter only in the table", "a.csv", "Source: a; b\n\nx,y\n1,2\n3,4\n",
			cells{{"x", "y"}, {"1", "2"}, {"3", "4"}}, "(above the table: "},
		{"names for some columns", "a.csv", "name,city,,\nBob,NY,x,y\nAl,LA,z,w\n",
			cells{{"name", "city", "", ""}, {"Bob", "NY", "x", "y"}, {"Al", "LA", "z", "w"}}, "little distinguishes"},
		{"name for one column", "a.csv", "id,,\n1,a,b\n2,c,d\n3,e,f\n",
			cells{{"id", "", ""}, {"1", "a", "b"}, {"2", "c", "d"}, {"3", "e", "f"}}, ""},
		{"R row names in quotes", "a.csv", "\"mpg\",\"cyl\"\n\"Mazda\",21,6\n\"Datsun\",22,4\n",
			cells{{"row", "mpg", "cyl"}, {"Mazda", "21", "6"}, {"Datsun", "22", "4"}}, `called "row"`},
		{"R row numbers", "a.csv", "row,x\n1,5,a\n2,6,b\n",
			cells{{"row_2", "row", "x"}, {"1", "5", "a"}, {"2", "6", "b"}}, `called "row_2"`},
		{"R row names with tabs", "a.tsv", "s1\ts2\ngeneA\t5\t7\ngeneB\t6\t8\n",
			cells{{"row", "s1", "s2"}, {"geneA", "5", "7"}, {"geneB", "6", "8"}}, `called "row"`},
		{"R table with blanks", "a.txt", "\"x\" \"y\"\n\"1\" 5 \"a b\"\n\"2\" 6 \"c\"\n",
			cells{{"row", "x", "y"}, {"1", "5", "a b"}, {"2", "6", "c"}}, "runs of blanks"},
		{"trailing delimiters", "a.csv", "a,b\n1,2,\n3,4,\n", cells{{"a", "b"}, {"1", "2"}, {"3", "4"}},
			"in 2 records, the first in line 2"},
		{"backslash before quotes", "a.csv", "a,b\n\"say \\\"hi\\\", ok\",2\n\"c:\\\\x \\d\",\"\"\"\"\n",
			cells{{"a", "b"}, {`say "hi", ok`, "2"}, {`c:\x \d`, `"`}}, "backslash"},
		{"backslash before a delimiter", "a.csv", "a,b\nx\\,y,1\nz,2\n", cells{{"a", "b"}, {"x,y", "1"}, {"z", "2"}},
			"backslash"},
		{"backslash as data", "a.csv", "a,b\n\"c:\\\",1\nx\\y,2\n", cells{{"a", "b"}, {`c:\`, "1"}, {`x\y`, "2"}}, ""},
		{"literal quotes in tabs", "a.tsv", "a\tb\n\"x\" y\t1\n\"open\t2\nz\"\t\"q\"\n",
			cells{{"a", "b"}, {`"x" y`, "1"}, {`"open`, "2"}, {`z"`, "q"}}, ""},
		{"literal quotes between bars", "a.csv", "a|b\nx|\"W\" Y\n", cells{{"a", "b"}, {"x", `"W" Y`}}, ""},
		{"literal quote before the end", "a.tsv", "a\tb\n\"x\t1\ny\t2\n",
			cells{{"a", "b"}, {`"x`, "1"}, {"y", "2"}}, ""},
		{"quoted tabs and lines", "a.tsv", "id\tnote\n1\t\"a\tb\"\n2\t\"x\ny \"\"z\"\"\"\n",
			cells{{"id", "note"}, {"1", "a\tb"}, {"2", "x\ny \"z\""}}, ""},
		{"aligned by blanks", "a.dat", "  x    y  name\n 1.5   2  a\n10.5  33  b  \n",
			cells{{"x", "y", "name"}, {"1.5", "2", "a"}, {"10.5", "33", "b"}}, "runs of blanks"},
		{"numbers with single blanks", "a.csv", "x y z\n1 20 3\n4 500 6\n",
			cells{{"x", "y", "z"}, {"1", "20", "3"}, {"4", "500", "6"}}, "runs of blanks"},
		{"fractions with single blanks", "a.csv", "1.5e1 2\n10.5 33\n7 8\n",
			cells{{"column_1", "column_2"}, {"1.5e1", "2"}, {"10.5", "33"}, {"7", "8"}}, "runs of blanks"},
		{"thousands with blanks", "a.csv", "total cost\n1 200.50\n3 400.00\n",
			cells{{"total cost"}, {"1 200.50"}, {"3 400.00"}}, ""},
		{"phone numbers", "a.csv", "phone number\n30 1234567\n89 765432\n",
			cells{{"phone number"}, {"30 1234567"}, {"89 765432"}}, ""},
		{"text with single blanks", "a.csv", "first last\nAnn 1.5\nBob 2\n",
			cells{{"first last"}, {"Ann 1.5"}, {"Bob 2"}}, "little distinguishes"},
		{"no header: null", "planes.dat", "Airbus,A30,\\N\nBoeing,B77,B777\nFokker,F10,F100\n",
			cells{{"column_1", "column_2", "column_3"}, {"Airbus", "A30", `\N`}, {"Boeing", "B77", "B777"},
				{"Fokker", "F10", "F100"}}, "no header"},
		{"a title above complete records", "a.csv", "Staff,,\nname,job,city\nAnn,cook,Rome\nBob,poet,Oslo\n",
			cells{{"name", "job", "city"}, {"Ann", "cook", "Rome"}, {"Bob", "poet", "Oslo"}}, "above the table"},
		{"one name above two columns", "a.csv", "Staff,\nAnn,cook\nBob,poet\nCid,smith\n",
			cells{{"column_1", "column_2"}, {"Staff", ""}, {"Ann", "cook"}, {"Bob", "poet"}, {"Cid", "smith"}},
			"no header"},
		{"title above incomplete records", "a.csv", "Staff,,\nname,job,town\nBob,poet,\nCid,smith,Bonn\n",
			cells{{"name", "job", "town"}, {"Bob", "poet", ""}, {"Cid", "smith", "Bonn"}}, "(above the table: "},
		{"blanks and a tab", "a.data", strings.Repeat("18.0   8   307.0\t\"buick skylark\"\n", 11),
			append(cells{{"column_1", "column_2", "column_3", "column_4"}},
				slices.Repeat(cells{{"18.0", "8", "307.0", "buick skylark"}}, 11)...), "runs of blanks"},
		{"aligned by blanks, no header", "a.dat", "1.5 2\n10.5 33\n2.5\t7\n",
			cells{{"column_1", "column_2"}, {"1.5", "2"}, {"10.5", "33"}, {"2.5", "7"}}, "runs of blanks"},
		{"quoted words separated by blanks", "a.txt",
			"\"id\" \"name\"\n\"AB\" \"Rosa canina\"\n\"CD\" \"Bellis perennis\"\n",
			cells{{"id", "name"}, {"AB", "Rosa canina"}, {"CD", "Bellis perennis"}}, "runs of blanks"},
		{"tabs between values with commas", "a.txt", "chr1\t10\t1,2,3\t10,20,30\nchr1\t40\t4,5,6\t40,50,60\n",
			cells{{"column_1", "column_2", "column_3", "column_4"}, {"chr1", "10", "1,2,3", "10,20,30"},
				{"chr1", "40", "4,5,6", "40,50,60"}}, "no header"},
		{"tabs between values with commas, one line", "a.bed", "chr1\t10\t60\t3\t10,10,10,\t0,20,40,\n",
			cells{{"column_1", "column_2", "column_3", "column_4", "column_5", "column_6"},
				{"chr1", "10", "60", "3", "10,10,10,", "0,20,40,"}}, "no header"},
		{"commas in TSV", "a.tsv", "id,name\n1,fern\n2,moss\n",
			cells{{"id", "name"}, {"1", "fern"}, {"2", "moss"}}, ""},
		{"delimiter at the end of each line", "a.csv",
			"\"Source\",\"Bank\",\n\n\"Updated\",\"2024-01-02\",\n\nname,code,kind,2000,2001,\nAruba,ABW,x,,1,\nChad,TCD,x,2,,\n",
			cells{{"name", "code", "kind", "2000", "2001", ""}, {"Aruba", "ABW", "x", "", "1", ""},
				{"Chad", "TCD", "x", "2", "", ""}}, "(above the table: "},
		{"years below titles", "a.csv", "Title,,\n,,\nname,1970,1971\nA,5.5,6\nB,7,8\n",
			cells{{"name", "1970", "1971"}, {"A", "5.5", "6"}, {"B", "7", "8"}}, "(above the table: "},
		{"title, two records and a footnote", "a.csv",
			"Umsatz\n\nRegion;Umsatz\nNord;1.234,50\nOst;2,60\n\nQuelle: Amt\n",
			cells{{"Region", "Umsatz"}, {"Nord", "1.234,50"}, {"Ost", "2,60"}}, "7 (footnote: "},
		{"columns without a name below a title", "a.csv", "Interest,,,\n,,,\nname,code,,\nA,1,2,3\nB,4,5,6\n",
			cells{{"name", "code", "", ""}, {"A", "1", "2", "3"}, {"B", "4", "5", "6"}}, "(above the table: "},
		{"commas in titles, numbers and footnotes", "a.csv",
			"Sales, by month\n\nMonth;Sales\nJanuary;1,5\nMay;2,5\n\nSource: office, 2020\n",
			cells{{"Month", "Sales"}, {"January", "1,5"}, {"May", "2,5"}}, "7 (footnote: "},
		{"title above a header without some names that ends with a delimiter", "a.csv",
			"\"Population\"\n\"\"\n\"By: sex, " +
				"town\"\n\"\",\"\",\"All\",\"Men\",\"Women\",\"\"\n\"01\",\"A\",\"1,200\",\"500\",\"700\"\n\"02\",\"B\",\"90\",\"40\",\"50\"\n\"03\",\"C\",\"3\",\"1\",\"2\"\n",
			cells{{"", "", "All", "Men", "Women", ""}, {"01", "A", "1,200", "500", "700"},
				{"02", "B", "90", "40", "50"}, {"03", "C", "3", "1", "2"}}, "(above the table: "},
		{"title above records that end with a delimiter", "a.csv", "Plants\n\nid;name;price\n1;fern;2,5;\n2;moss;;\n",
			cells{{"id", "name", "price"}, {"1", "fern", "2,5"}, {"2", "moss", ""}}, "(above the table: "},
		{"more commas than tabs", "a.txt", "1\tA\t1,2,3,4,5,6\n2\tB\t1,2,3,4,5,6\n3\tC,D\t1,2,3,4,5,6\n",
			cells{{"column_1", "column_2", "column_3"}, {"1", "A", "1,2,3,4,5,6"}, {"2", "B", "1,2,3,4,5,6"},
				{"3", "C,D", "1,2,3,4,5,6"}}, "no header"},
		{"decimal commas in all values", "a.csv", "0,12;0,5;1,75\n0,13;0,6;1,85\n0,14;0,4;1,95\n",
			cells{{"column_1", "column_2", "column_3"}, {"0,12", "0,5", "1,75"}, {"0,13", "0,6", "1,85"},
				{"0,14", "0,4", "1,95"}}, "no header"},
		{"addresses with colons", "a.txt", "fe80::1\nfe80::2\nfe80::3\n",
			cells{{"column_1"}, {"fe80::1"}, {"fe80::2"}, {"fe80::3"}}, "no header"},
		{"names with colons", "a.txt", "std::io::Read\nstd::io::Write\nstd::fs::File\n",
			cells{{"column_1"}, {"std::io::Read"}, {"std::io::Write"}, {"std::fs::File"}}, "no header"},
		{"codes that look alike", "a.txt", "ENS0051951\tXkr4\nENS0025900\tRp1\nENS0025902\tSox17\n",
			cells{{"column_1", "column_2"}, {"ENS0051951", "Xkr4"}, {"ENS0025900", "Rp1"}, {"ENS0025902", "Sox17"}},
			"no header"},
		{"a name unlike the codes", "a.txt", "gene2021\tsymbol\nENS0025900\tRp1\nENS0025902\tSox17\n",
			cells{{"gene2021", "symbol"}, {"ENS0025900", "Rp1"}, {"ENS0025902", "Sox17"}}, ""},
		{"two of three names recur", "a.csv", "a,b,c\na,x,y\nz,b,w\n",
			cells{{"a", "b", "c"}, {"a", "x", "y"}, {"z", "b", "w"}}, "little distinguishes"},
		{"footnote longer than names", "a.csv",
			"country,n\n\"Micronesia, Federated States of\",1\nChad,2\n\n\"International Monetary Fund, World " +
				"Economic Outlook Database, 2016\"\n",
			cells{{"country", "n"}, {"Micronesia, Federated States of", "1"}, {"Chad", "2"}}, "5 (footnote: "},
		{"hashtags", "a.csv", "hashtag\n#golang\n#rustlang\n#zig\n",
			cells{{"hashtag"}, {"#golang"}, {"#rustlang"}, {"#zig"}}, ""},
		{"hashtags as names", "a.csv", "#adm1+name, #adm1+code\nCoast, C1\nPlains, C2\n",
			cells{{"#adm1+name", "#adm1+code"}, {"Coast", " C1"}, {"Plains", " C2"}}, ""},
		{"blank line in an aligned table", "a.dat", "Sunspots\n---\nYear Jan\n---\n1749 58.0\n\n1750 73.3\n1751 70.0\n",
			cells{{"column_1"}, {"Sunspots"}, {"---"}, {"Year Jan"}, {"---"}, {"1749 58.0"}, {"1750 73.3"},
				{"1751 70.0"}}, "no header"},
		{"footnotes below a rule", "a.csv",
			"Tag;n\n31.12.1950;1\n31.12.1951;2\n31.12.1952;3\n__________\nAlle Angaben.\n© Amt, 2021\n",
			cells{{"Tag", "n"}, {"31.12.1950", "1"}, {"31.12.1951", "2"}, {"31.12.1952", "3"}}, "5 (footnote: "},
		{"short records below a blank line", "a.csv", "id,n,m\na,1,2\nb,3,4\nc,5,6\n\n10,11\n12,13\n",
			cells{{"id", "n", "m"}, {"a", "1", "2"}, {"b", "3", "4"}, {"c", "5", "6"}, {"10", "11"}, {"12", "13"}}, ""},
		{"another table with more columns", "a.csv",
			"Meetings,,\nid,n,m\na,1,2\nb,3,4\n,,\nTravel,,\nid,day,place,cost\na,Monday,Rome,5\nb,Friday,Oslo,6\n",
			cells{{"id", "n", "m"}, {"a", "1", "2"}, {"b", "3", "4"}},
			"only the first of 2 tables is published; others begin at line 6 (Travel); set skip=5"},
		{"two numbers from 0 as names", "a.csv", "name,0,1\nx,5,6\ny,7,8\nz,9,3\n",
			cells{{"name", "0", "1"}, {"x", "5", "6"}, {"y", "7", "8"}, {"z", "9", "3"}}, ""},
		{"no header: two numbers from 1", "a.csv", "1,2\n5,6\n7,8\n9,3\n",
			cells{{"column_1", "column_2"}, {"1", "2"}, {"5", "6"}, {"7", "8"}, {"9", "3"}}, "no header"},
		{"quotes that only one delimiter allows", "a.csv", "a,b;c;d\n1,\"x\"y;2;3\n4,5;6;7\n",
			cells{{"a,b", "c", "d"}, {`1,"x"y`, "2", "3"}, {"4,5", "6", "7"}}, ""},
		{"a title with one delimiter fewer", "a.csv", "Prices;\n\ncode;name;price\nA1;fern;2\nA2;moss;3\nA3;rose;4\n",
			cells{{"code", "name", "price"}, {"A1", "fern", "2"}, {"A2", "moss", "3"}, {"A3", "rose", "4"}},
			"line 3 names the columns"},
		{"lines above and below the table with other delimiters", "a.csv",
			"Trees, shrubs, herbs and mosses by year, as counted\nRegion:;North\n\"\"\n;\"2001\";\"2002\";\"2003\"\n" +
				"\"Elm\";\"4\";\"5\";\"6\"\n\"Oak\";\"1\";\"2\";\"3\"\n\"Fir\";\"7\";\"8\";\"9\"\n\"Ash\";\"2\";\"2\";\"3\"\n\nNote: counted by hand\n",
			cells{{"", "2001", "2002", "2003"}, {"Elm", "4", "5", "6"}, {"Oak", "1", "2", "3"}, {"Fir", "7", "8", "9"},
				{"Ash", "2", "2", "3"}}, "above the table"},
		{"row names beside decimals and a text", "a.csv",
			"A,B,C\n2001-01-03,0.98,3.68,elm\n2001-01-04,1.04,-0.04,oak\n",
			cells{{"row", "A", "B", "C"}, {"2001-01-03", "0.98", "3.68", "elm"},
				{"2001-01-04", "1.04", "-0.04", "oak"}}, `called "row"`},
		{"row names without quotes", "a.csv", "mpg,cyl\nMazda RX4,21.0,6\nValiant,18.1,6\n",
			cells{{"row", "mpg", "cyl"}, {"Mazda RX4", "21.0", "6"}, {"Valiant", "18.1", "6"}}, "called \"row\""},
		{"a part of a name in quotes", "a.csv", "country,\"Poverty\" (2002),x\nA,1,2\nB,3,4\n",
			cells{{"country", `"Poverty" (2002)`, "x"}, {"A", "1", "2"}, {"B", "3", "4"}}, ""},
		{"more delimiters above the table", "a.csv",
			"Report,,,,,,,,\nby,a,b,c,d,e,f,g,h\n\nid;name;price\n1;fern;2\n2;moss;3\n3;elm;4\n4;oak;5\n",
			cells{{"id", "name", "price"}, {"1", "fern", "2"}, {"2", "moss", "3"}, {"3", "elm", "4"},
				{"4", "oak", "5"}}, "(above the table: "},
		{"bars in identifiers", "a.csv", "ref\ngi|123|x\ngi|456|x\ngi|789|x\n",
			cells{{"ref"}, {"gi|123|x"}, {"gi|456|x"}, {"gi|789|x"}}, ""},
		{"more bars than tabs", "a.txt", "gene\tdb\nsp|P1|A\tx\nsp|P2|B\ty\n",
			cells{{"gene", "db"}, {"sp|P1|A", "x"}, {"sp|P2|B", "y"}}, ""},
		{"words and numbers in CSV", "a.csv", "name number\nPlant 1\nPlant 2\n",
			cells{{"name number"}, {"Plant 1"}, {"Plant 2"}}, ""},
	}
	for _, tt := range tests {
		for how, wrap := range rowstest.Wraps() {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				got, notes, err := read(t, memory{Base: tt.file, Content: tt.in, Wrap: wrap}, rows.Options{},
					rows.Limits{})
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
				}
				if all := strings.Join(notes, "\n"); (all == "") != (tt.note == "") || !strings.Contains(all, tt.note) {
					t.Errorf("notes %q, want %q", notes, tt.note)
				}
			})
		}
	}
}

func TestOpen_Options(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, in string
		o              rows.Options
		want           cells
	}{
		{"delimiter", "a.csv", "a:b,c\n1:2,3\n", rows.Options{Delimiter: ':'}, cells{{"a", "b,c"}, {"1", "2,3"}}},
		{"quote", "a.csv", "a|%b%\n%x|%%y%|\"z\"\n", rows.Options{Delimiter: '|', Quote: '%'},
			cells{{"a", "b"}, {"x|%y", `"z"`}}},
		{"no quote", "a.tsv", "a\tb\n\"x\t'y\n", rows.Options{NoQuote: true}, cells{{"a", "b"}, {`"x`, "'y"}}},
		{"escape in quotes", "a.csv", "a,b\n\"x\\\"y\",\"\\\\\"\n", rows.Options{Escape: '\\', NoDoubleQuote: true},
			cells{{"a", "b"}, {`x"y`, `\`}}},
		{"escape without quotes", "a.csv", "a,b\nx\\,y,1\\\n2\n3,4\\\\\n", rows.Options{Escape: '\\'},
			cells{{"a", "b"}, {"x,y", "1\n2"}, {"3", `4\`}}},
		{"escape and doubled quotes", "a.csv", "a,b\n\"x\"\"y\\\"\",2\n", rows.Options{Escape: '\\'},
			cells{{"a", "b"}, {`x"y"`, "2"}}},
		{"initial blanks", "a.csv", "a, b\n 1,   \"x, y\"\n2, \n", rows.Options{SkipInitialSpace: true},
			cells{{"a", "b"}, {"1", "x, y"}, {"2", ""}}},
		{"comments", "a.csv", "# first, \"\na,b\n#\n1,2\n3,#4\n#end", rows.Options{Comment: "#"},
			cells{{"a", "b"}, {"1", "2"}, {"3", "#4"}}},
		{"long comment prefix", "a.csv", "a,b\n//x,y\n/,2\n", rows.Options{Comment: "//"},
			cells{{"a", "b"}, {"/", "2"}}},
		{"comment lines by number", "a.csv", "Title \"of\nit\na,b\nkg,m\n1,2\n",
			rows.Options{CommentRows: []int{1, 2, 4}}, cells{{"a", "b"}, {"1", "2"}}},
		{"null", "a.csv", "a,b\nNULL,\"NULL\"\nnull,NULLS\n", rows.Options{Null: "NULL"},
			cells{{"a", "b"}, {"", ""}, {"null", "NULLS"}}},
		{"null like an escape", "a.tsv", "a\tb\n\\N\tx\\\ty\n", rows.Options{Null: `\N`, Escape: '\\'},
			cells{{"a", "b"}, {"", "x\ty"}}},
		{"no header", "a.csv", "1,x\n2,y\n", rows.Options{Header: rows.HeaderNone},
			cells{{"column_1", "column_2"}, {"1", "x"}, {"2", "y"}}},
		{"no header and names", "a.csv", "1,x\n2,y\n",
			rows.Options{Header: rows.HeaderNone, Names: []string{"id", "name"}},
			cells{{"id", "name"}, {"1", "x"}, {"2", "y"}}},
		{"no header and a title", "a.csv", "t\n1,x\n2,y\n", rows.Options{Header: rows.HeaderNone, Skip: 1},
			cells{{"column_1", "column_2"}, {"1", "x"}, {"2", "y"}}},
		{"no header, no records", "a.csv", "", rows.Options{Header: rows.HeaderNone, Names: []string{"id"}},
			cells{{"id"}}},
		{"header present", "a.csv", "5.1,3.5\n4.9,3.0\n4.7,3.2\n", rows.Options{Header: rows.HeaderPresent},
			cells{{"5.1", "3.5"}, {"4.9", "3.0"}, {"4.7", "3.2"}}},
		{"header in line 1", "a.csv", "5.1,3.5\n4.9,3.0\n4.7,3.2\n", rows.Options{HeaderRows: []int{1}},
			cells{{"5.1", "3.5"}, {"4.9", "3.0"}, {"4.7", "3.2"}}},
		{"header further down", "a.csv", "A \"report,\n\n;;;;\na;b\n1,5;2\n", rows.Options{HeaderRows: []int{4}},
			cells{{"a", "b"}, {"1,5", "2"}}},
		{"header of several lines", "a.csv", "size,,colour\n(cm),(in),\n-,-,-\nmin,max,\n1,2,red\n",
			rows.Options{HeaderRows: []int{1, 2, 4}, HeaderJoin: "_"},
			cells{{"size_(cm)_min", "(in)_max", "colour"}, {"1", "2", "red"}}},
		{"skip", "a.csv", "x,\"\ny\na,b\n1,2\n3,4\n", rows.Options{Skip: 2}, cells{{"a", "b"}, {"1", "2"}, {"3", "4"}}},
		{"encoding", "a.csv", "a\n\x90A\x95\xA8\n", rows.Options{Encoding: "shift_jis"}, cells{{"a"}, {"植物"}}},
	}
	for _, tt := range tests {
		checkRows(t, tt.name, memory{Base: tt.file, Content: tt.in}, tt.o, tt.want)
	}
}

func TestOpen_Rejects(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", 99)
	tests := []struct {
		name, file, in string
		o              rows.Options
		l              rows.Limits
		want           []string
	}{
		{name: "nothing", want: []string{"empty"}},
		{name: "byte order mark alone", in: "\xEF\xBB\xBF", want: []string{"empty"}},
		{name: "one name without delimiters", in: "a@b\nx@p;q\ny@s;t\nz@v;w\n",
			o: rows.Options{Header: rows.HeaderPresent}, want: []string{"line 2: there are 2 values"}},
		{name: "blank lines alone", in: "\n\r\n\r", want: []string{"empty"}},
		{name: "long record", in: "a,b\n1,2\n\n1,2,3\n", want: []string{"line 4:", "3 values", "2 columns", `","`,
			"header=N", "skip=N", "delimiter"}},
		{name: "long record like a footnote", in: "a,b\n1,2\n1,2\nSource: a, b, c\n1,2\n",
			want: []string{"line 4:", "3 values"}},
		{name: "long record at the end", in: "a,b\n1,2\n1,2\nthe last one, b, c\n",
			want: []string{"line 4:", "3 values"}},
		{name: "footnote below a given header", in: "a,b\n1,2\n1,2\nSource: a, b, c\n",
			o: rows.Options{HeaderRows: []int{1}}, want: []string{"line 4:", "3 values"}},
		{name: "long record after line ends in quotes", in: "a,b\n\"x\r\ny\rz\",\"\n\"\n1,2,3\n",
			want: []string{"line 6:"}},
		{name: "text after a quote", in: "a,b\n1,2\n\"x\ny\"z,2\n",
			want: []string{"line 3:", "closing quote of a value that ends in line 4"}},
		{name: "a stray quote far above", in: "a,b\n\"x,1\n\"y\",2\n3,4\n\"z\",5\n",
			want: []string{"line 2:", "ends in line 3"}},
		{name: "a quote that inverts the others", in: "a,b\n1,2\n\"x,1\ny\",2\n3,4\n5,\"z\n",
			want: []string{"line 6:", "never closed", "see line 3"}},
		{name: "blank after a quote", in: "a\n\"x\" \n", want: []string{"line 2:", "closing quote"}},
		{name: "open quote", in: "a,b\n1,2\n\"x\n\",\"y\nz\n", want: []string{"line 4:", "never closed"}},
		{name: "open quote at the end", in: "a\n\"", want: []string{"line 2:", "never closed"}},
		{name: "open quote in the header", in: "\"a,b\n1,2\n", want: []string{"line 1:", "never closed"}},
		{name: "open quote above single quotes", in: "\"a;b\n'x;y';2\n'z;w';3\n",
			want: []string{"line 1:", "never closed"}},
		{name: "doubled quote at the end", in: "a\n\"x\"\"", want: []string{"line 2:", "never closed"}},
		{name: "many additional values", in: "a,b\n" + strings.Repeat(",", 2*rows.MaxColumns) + "x\n",
			want: []string{"line 2:", "20001 values"}},
		{name: "too many columns", in: strings.Repeat(",", rows.MaxColumns) + "\n", want: []string{"line 1:", "10000"}},
		{name: "columns limited", in: "a,b,c\n", l: rows.Limits{Columns: 2}, want: []string{"line 1:", "2 columns"}},
		{name: "unquoted commas like row names", in: "name,address\nBob,1 Main St,X\nAl,2 High St,Y\n",
			want: []string{"line 2:", "3 values"}},
		{name: "a header that splits", file: "a.csv", in: "one,two,three\n1,2,3,4\n1,2,3\n1,2\n1,2,3,4\n",
			want: []string{"line 2: there are 4 values"}},
		{name: "decimal commas like row names", in: "name,price\nfern,3,50\nmoss,4,20\n",
			want: []string{"line 2:", "3 values"}},
		{name: "one column of text with commas", in: "Street address\n1 Main St,Springfield\n2 High St,York\n",
			o: rows.Options{Header: rows.HeaderPresent}, want: []string{"line 2:", "header=N"}},
		{name: "decimal commas beside numbers like row names", in: "id,kind,price\n7,1,3,50\n9,2,4,200\n",
			want: []string{"line 2:", "4 values"}},
		{name: "row names, short record", file: "a.tsv", in: "a\tb\n" + longRowNames(),
			want: []string{"line 202:", "row names"}},
		{name: "comment with several values", in: "# x\nid,name,z\n1,fern,2\n#more, text\n2,moss,2\n",
			want: []string{"line 4:", "comment=#"}},
		{name: "doubled quotes not allowed", in: "a\n\"x\"\"y\"\n", o: rows.Options{NoDoubleQuote: true},
			want: []string{"line 2:", "closing quote"}},
		{name: "header after the end", in: "a\n1\n", o: rows.Options{HeaderRows: []int{5}},
			want: []string{"no line 5", "2 lines"}},
		{name: "skip after the end", in: "a\n1\n", o: rows.Options{Skip: 7}, want: []string{"no line 8"}},
		{name: "header in a blank line", in: "a\n\nb\n", o: rows.Options{HeaderRows: []int{2}},
			want: []string{"line 2,", "blank"}},
		{name: "longer than most records", in: "1,2\n3,4\n1,2,3\n", o: rows.Options{Header: rows.HeaderNone},
			want: []string{"line 3:", "3 values", "table has 2"}},
		{name: "record too long", in: "a\n1\n" + value + "yz\n", l: rows.Limits{Record: 100},
			want: []string{"line 3:", "100 bytes"}},
		{name: "quoted record too long", in: "a,b\n1,\"x\ny\"\n1,\"" + value + value, l: rows.Limits{Record: 100},
			want: []string{"line 4:", "100 bytes", "opened in line 4"}},
		{name: "mixed encodings", in: "a,b\né,1\n\xE9,2\n", want: []string{"line 3:", "mixes encodings"}},
	}
	for _, tt := range tests {
		for how, wrap := range rowstest.Wraps() {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				t.Parallel()
				got, _, err := read(t, memory{Base: tt.file, Content: tt.in, Wrap: wrap}, tt.o, tt.l)
				if err == nil || herb.CodeOf(err) != herb.CodeInvalid {
					t.Fatalf("got %.5q and error %v", got, err)
				}
				for _, want := range tt.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("got error %v, want one with %q", err, want)
					}
				}
			})
		}
	}
}

// compressed is a file of 100 bytes that has more content.
type compressed struct{ memory }

func (compressed) Size() int64 { return 100 }

// TestReader_skippedLines reads more blank lines and comments than a small file can reasonably
// hold.
func TestReader_skippedLines(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"\n", "# x\n"} {
		for _, o := range []rows.Options{{}, {Comment: "#"}} {
			f := compressed{memory{Content: "#\na,b\n1,2\n" + strings.Repeat(line, 1<<20+1)}}
			_, err := rowstest.Read(t.Context(), Format(), f, o, rows.Limits{})
			if err == nil || !strings.Contains(err.Error(), "more than 1048576 elements") {
				t.Errorf("%q: got error %v", line, err)
			}
		}
	}
}

// longRowNames returns records with row names that fill the sample, and a short one after it.
func longRowNames() string {
	var b strings.Builder
	for i := range sampleRecords {
		fmt.Fprintf(&b, "g%d\t1\t2\n", i)
	}
	return b.String() + "short\t1\n"
}

func TestOpen_RecordLimit(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", 99)
	got, _, err := read(t, memory{Base: "a.csv", Content: "a\n" + value + "\n" + value + "\r" + value}, rows.Options{},
		rows.Limits{Record: 100})
	if err != nil || len(got) != 4 {
		t.Errorf("records that just fit: got %d rows and error %v", len(got), err)
	}
}

func TestOpen_SourceErrors(t *testing.T) {
	t.Parallel()
	failing := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(io.ErrClosedPipe)) }
	for _, in := range []string{"", "a,b\n", "a,b\n1", "a,b\n1,\"x", "a,b\n1,\"x\"", "a,b\r", "# a\n", "a\tb\n\"x"} {
		if _, _, err := read(t, memory{Content: in, Wrap: failing}, rows.Options{}, rows.Limits{}); !errors.Is(err,
			io.ErrClosedPipe) {
			t.Errorf("after %q: got error %v", in, err)
		}
	}
	if err := rowstest.ReadCanceled(Format(),
		memory{Content: "a,b\n" + strings.Repeat("1,2\n", 1<<20)}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got error %v", err)
	}
}

// TestOpen_Literal reads text with many quotes that are not closed, which must not be quadratic.
func TestOpen_Literal(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, line := range map[string]string{"in each record": "\"x\ty\n", "in short records": "\"x\n"} {
		got, _, err := read(t, memory{Base: "a.tsv", Content: "a\tb\n1\t2\n" + strings.Repeat(line, n)}, rows.Options{},
			rows.Limits{})
		if err != nil || len(got) != n+2 {
			t.Errorf("%s: got %d rows and error %v", name, len(got), err)
		}
	}
}

// TestOpen_Wide detects the layout of tables with many columns, which must be linear.
func TestOpen_Wide(t *testing.T) {
	t.Parallel()
	for name, cell := range map[string]string{"equal text": "x", "equal numbers": "7", "empty": "", "quotes": `"x"`} {
		record := strings.Repeat(cell+",", rows.MaxColumns-1)
		in := strings.Repeat(record+"a\n", 50) + record + "b\n"
		if got, _, err := read(t, memory{Content: in}, rows.Options{}, rows.Limits{}); err != nil || len(got) < 51 {
			t.Errorf("%s: got %d rows and error %v", name, len(got), err)
		}
	}
}

// write writes rows with every value in quotes.
func write(rows cells, delimiter byte, end string) string {
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte(delimiter)
			}
			b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
		}
		b.WriteString(end)
	}
	return b.String()
}

func TestOpen_ReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	alphabet := []string{"a", "B", "7", " ", ",", ";", "\t", "|", `"`, `""`, "\r", "\n", "\r\n", "é", "植", "🌱",
		"e\u0301", "\x00", "\uFEFF", "\\", "#"}
	for n := range 300 {
		want := make(cells, 1+rng.IntN(8))
		width := 1 + rng.IntN(5)
		for i := range want {
			want[i] = make([]string, width)
			for k := range want[i] {
				if i == 0 {
					want[i][k] = fmt.Sprintf("name%d", k)
					continue
				}
				for range rng.IntN(12) {
					want[i][k] += alphabet[rng.IntN(len(alphabet))]
				}
			}
		}
		delimiter := ",;\t|"[rng.IntN(4)]
		in := write(want, delimiter, []string{"\n", "\r\n", "\r"}[rng.IntN(3)])
		o := rows.Options{Delimiter: delimiter, Quote: '"', Header: rows.HeaderPresent}
		got, _, err := read(t, memory{Content: in, Wrap: iotest.OneByteReader}, o, rows.Limits{})
		if err != nil {
			t.Fatalf("seed %d, case %d: %v\n%q", seed, n, err, in)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d, case %d (-want +got):\n%s", seed, n, diff)
		}
	}
}

// FuzzOpen writes what was read and reads it again.
func FuzzOpen(f *testing.F) {
	for _, s := range []string{
		"", "a,b\n1,2\n", "\xEF\xBB\xBFa;b\r\n\"x\r\n\"\"y\";2\r\n", "a\r\"\"\r\r1", "\"a,b\n", "a\n\"x\"y",
		"a,b\n1,2,3", "a\n\xFF", "# x\na\tb\n\"x\t1\n\"\t2\n",
		"t\n\na,b\n1,2\n", "a b\n1 2\n3 4\n", "a,b\n\"x\\\"y\",2\n", "1.5,2\n2.5,3\n3.5,4\n",
		"a\tb\n\"1\"\t1\t2\n\"2\"\t3\t4\n",
	} {
		f.Add([]byte(s), byte(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, delimiter byte) {
		if delimiter == '"' || delimiter == '\n' || delimiter == '\r' || delimiter >= 0x80 {
			return
		}
		m := memory{Content: string(in), Wrap: iotest.HalfReader}
		first, _, err := read(t, m, rows.Options{Delimiter: delimiter}, rows.Limits{Record: 1 << 20})
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		again, _, err := read(t, memory{Content: write(first, ',', "\n")},
			rows.Options{Delimiter: ',', Quote: '"', HeaderRows: []int{1}, Encoding: "utf-8"}, rows.Limits{})
		if err != nil {
			t.Fatalf("what was read and written is rejected: %v", err)
		}
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatalf("read, written and read again (-first +second):\n%s", diff)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("id,title,description,date,url,price,tags\n")
	for i := range 250_000 {
		fmt.Fprintf(&buf, "%d,Plant %d,\"A plant, said to be \"\"hardy\"\", of the %dth bed; it flowers late and "+
			"keeps its leaves.\",2024-05-%02d,"+
			"https://garden.example/plants/%d,%d.50,\"shade,hardy\"\n", i, i, i%97, 1+i%28, i, i%300)
	}
	m := memory{Base: "a.csv", Content: buf.String()}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Format().Open(b.Context(), m, rows.Options{}, rows.NewBudget(b.Context(), m.Size(), rows.Limits{}))
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

// TestOptions_Reproduce reads files again with the options that were detected.
func TestOptions_Reproduce(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"a;b\n1;2\n", "5.1,3.5\n4.9,3.0\n4.7,3.2\n", "T\n\nid,name\n1,fern\n2,moss\n",
		"# x\nid,name\n1,fern\n# y\n2,moss\n",
		"a\tb\ng1\t1\t2\ng2\t3\t4\n", " x  y\n 1  2\n 3  4\n", "a,b\n\"x\\\"y\",\\d\n", "a\n\xE9\n", "a\nx\n",
		"sep=;\na;b\n1;2\n",
		",x,,y,\nid,n,m,n,m\n,kg,m,kg,m\na,1,2,3,4\nb,5,6,7,8\n\nNote: x\n",
		"id,n,m\na,1,2\nb,3,4\n\nTravel\nid,day,place,cost\na,Monday,\"Rome\n\",5\n",
		"T\n\nid,n,m\n,kg,%\na,1,2\nid,n,m\nb,3,4\n,,\n\"Note: x\n\n\"\n",
	} {
		m := memory{Content: in}
		open := func(o rows.Options) (got cells, detected rows.Options) {
			got, _, err := read(t, m, o, rows.Limits{})
			if err != nil {
				t.Fatalf("%q with %+v: %v", in, o, err)
			}
			r, err := Format().Open(t.Context(), m, o, rows.NewBudget(t.Context(), m.Size(), rows.Limits{}))
			for err == nil {
				_, err = r.Next()
			}
			return got, r.(*reader).Options()
		}
		first, detected := open(rows.Options{})
		again, _ := open(detected)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("%q with %+v (-first +again):\n%s", in, detected, diff)
		}
	}
}

package table_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/table"
)

// parse returns the rows of a text with a bar between values. A blank line is a gap.
func parse(text string) (found []table.Row) {
	gap := false
	for i, line := range strings.Split(text, "\n") {
		if line == "" {
			gap = true
			continue
		}
		r := table.Row{Line: i + 1, End: i + 1, Gap: gap}
		for _, v := range strings.Split(line, "|") {
			r.Cells = append(r.Cells, []byte(v))
		}
		r.Blank = r.Filled() == 0
		found, gap = append(found, r), false
	}
	return found
}

// TestLayout reads tables as the formats do. Each case is a layout that occurs in published files.
func TestLayout(t *testing.T) {
	t.Parallel()
	const numbers = "A|1|2|3|4\nB|5|6|7|8\nC|9|1|2|3"
	for _, c := range []struct {
		name, text string
		merges     []table.Merge
		header     []int  // lines
		names      string // joined with commas; empty: those of the line
		records    []int  // lines; nil: all below the header
		doubtful   bool
	}{
		// One row.
		{name: "names above numbers", text: "id|name|n\na|x|1\nb|y|2", header: []int{1}},
		{name: "names above text", text: "name|city\nAnn|Rome\nBob|Oslo", header: []int{1}},
		{name: "a dictionary of two fields", text: "name|description\nname|what people call it\nprice|in euros",
			header: []int{1}, doubtful: true},
		{name: "texts of the form of names", text: "Ann|Paris\nBob|Rome\nCid|Oslo", header: []int{1}, doubtful: true},
		{name: "customers", text: "Customer\nAcme\nBolt\nCable", header: []int{1}, doubtful: true},
		{name: "names alone", text: "name|city", header: []int{1}},
		{name: "names above one record", text: "name|n\nAnn|1", header: []int{1}},
		{name: "names above booleans", text: "a|b\ntrue|false\nfalse|true", header: []int{1}},
		{name: "a record of texts below names", text: "name|age|size\nAnn|old|tall\nBob|6|7\nCid|7|8",
			header: []int{1}},
		{name: "names above values of all kinds",
			text: "name|value\nName|Clippy\nSpecies|paperclip\nDate of death|2007-01-01\nWeight|0.9", header: []int{1}},
		{name: "a remark in the first record",
			text: "Company|Place|Founded|Kind|Owner\nAcc|Oslo|unknown|bank|Bob\nBol|Rome|1999|shop|Ann\nCup|Rome|2001|shop|Cid\nDot|Bern|2003|bank|Eve", header: []int{1}},
		{name: "some columns without a name", text: "id|name|||\n1|rose|a|b|c\n2|elm|d|e|f", header: []int{1},
			doubtful: true},
		{name: "row labels without a name", text: "|word|theme\n26|abandon|No theme\n35|abduct|crime\n62|abort|power",
			header: []int{1}, doubtful: true},
		{name: "names that occur often",
			text: "Event|Type|from|to|color|from|to|color|from|to|color\nx " +
				"y|Other|0|5|#93BE96|5|9|#8A050A|9|11|#DD776B\nx z|Other|0|5||5|9||9|11|\nx w|Other|0|7||7|9||9||",
			header: []int{1}},
		{name: "names that occur twice", text: "id|n|n\n1|2|3\n2|4|5", header: []int{1}},
		{name: "a name with a word for columns above words", text: "common_name\napple\nfern\nmoss\nelm",
			header: []int{1}},
		{name: "a name above identifiers", text: "ISIN\nUS0378331005\nUS5949181045\nDE0007164600\nFR0000120271",
			header: []int{1}},
		{name: "list of words", text: "apple\nfern\nmoss\nelm\noak", header: []int{1}, doubtful: true},
		{name: "list of identifiers", text: "BRCA1\nTP53\nEGFR\nKRAS\nMYC", header: []int{1}, doubtful: true},
		{name: "one range below each group",
			text:   "|Totals|Males|Females\nArea|0-9|0-9|0-9\nNorth|12|6|6\nSouth|22|11|11\nEast|32|16|16",
			header: []int{1, 2}, names: "Area,Totals 0-9,Males 0-9,Females 0-9"},
		{name: "a record that repeats a text", text: "Team|Home|Away\nRed|win|win\nBlue|lost|win\nGreen|win|lost",
			header: []int{1}},
		{name: "a record that repeats a remark", text: "Team|Home|Away\nRed|none|none\nBlue|3|4\nGreen|5|6\nWhite|7|8",
			header: []int{1}},
		{name: "the same group again",
			text: "|||2016|||2016|\nWeek|early F|late F|mean F|early M|late M|mean " +
				"M|table\n1|2|3|2.5|1|2|1.5|a\n2|4|5|4.5|2|3|2.5|b\n3|4|5|4.5|2|3|2.5|c", header: []int{2}},
		{name: "ranges below groups",
			text:   "|Totals|||Males||\nArea|0-9|10-19|20+|0-9|10-19|20+\nNorth|12|13|14|6|6|7\nSouth|22|23|24|11|12|12\nEast|32|33|34|16|16|17",
			header: []int{1, 2}, names: "Area,Totals 0-9,Totals 10-19,Totals 20+,Males 0-9,Males 10-19,Males 20+"},
		{name: "hashtags in the first record", text: "tag|color\n#golang|#ff0000\n#rust|#abcdef\nnone|#00ff00",
			header: []int{1}},
		{name: "HXL tags alone", text: "#country+name|#adm1|#affected\nMali|North|12\nMali|South|13", header: []int{1}},
		{name: "list of hashes", text: "d41d8cd98f00b204\n0cc175b9c0f1b6a8\n92eb5ffee6ae2fec\n4a8a08f09d37b737",
			header: []int{1}, doubtful: true},
		{name: "a word for columns above names", text: "Surname\nSmith\nJones\nTaylor\nBrown", header: []int{1},
			doubtful: true},
		{name: "words for columns above names", text: "Bank Name\nAllied Bank\nFirst Trust\nGood Credit",
			header: []int{1}, doubtful: true},
		{name: "a word that breaks the order", text: "Reptile\nCobra\nGecko\nIguana\nLizard\nPython", header: []int{1},
			doubtful: true},
		{name: "a letter above words", text: "x\nfern\napple\nmoss\nelm", header: []int{1}, doubtful: true},
		{name: "years", text: "State|2020|2016|2012\nA|5|6|7\nB|8|9|9", header: []int{1}},
		{name: "years above few records", text: "2019|2020\n3|4", header: []int{1}},
		{name: "numbers from 0", text: "|0|1\n0|3|4\n1|5|6", header: []int{1}},
		{name: "weeks", text: "Week|1|2|3|4|5\nA|5|6|7|5|6\nB|7|8|9|9|9", header: []int{1}},
		{name: "dates", text: "Land|2023-03-15|2023-03-16|2023-03-17\nA|5|6|7\nB|7|8|9", header: []int{1}},
		{name: "numbers of parties", text: "place|no|1|4|5|9|10|17\nx|1|5|6|7|5|6|2\ny|2|8|9|1|4|2|2",
			header: []int{1}},
		{name: "wavelengths", text: "sample|400.5|401.0|401.5|402.0|402.5\nx|0.12|0.11|0.14|0.2|0.1\ny|0.22|0.21|0.19|0.17|0.1", header: []int{1}},
		{name: "a comparison in a name", text: "Collection|Number of items with weight <= 50kg", header: []int{1}},
		{name: "names with blanks before them", text: "Event| Type| Name\nx|Country|A\ny|Country|B", header: []int{1}},
		// No row.
		{name: "a record alone", text: "chr22|1000|5000", records: []int{1}},
		{name: "two records", text: "chr22|1000|5000\nchr22|2000|6000", records: []int{1, 2}},
		{name: "records of numbers", text: "5.1|3.5\n4.9|3.0\n4.7|3.2", records: []int{1, 2, 3}},
		{name: "records of booleans", text: "true|x\nfalse|y\ntrue|z", records: []int{1, 2, 3}},
		{name: "a number that may be a year",
			text: "842|M|17.9|2019\n843|B|20.5|956.5\n844|M|19.6|709.1\n845|M|11.4|567.7", records: []int{1, 2, 3, 4}},
		{name: "codes that look alike", text: "RO1-0001|x\nRO1-0002|y\nRO2-0003|z", records: []int{1, 2, 3}},
		{name: "texts that recur", text: "red|x\nblue|y\nred|z\nred|y", records: []int{1, 2, 3, 4}},
		{name: "a log", text: "Jun 14 15:16:01 combo sshd[19939]: failure\nJun 14 15:16:02 combo sshd[19937]: check " +
			"pass\nJun 14 15:16:02 combo su[19937]: failure", records: []int{1, 2, 3}},
		{name: "equal numbers from 0", text: "0|0|test\n1|1|test\n2|2|test", records: []int{1, 2, 3}},
		{name: "consecutive numbers of a record", text: "1|2|3|4|10\n10|11|12|13|14\n5|9|8|7|1",
			records: []int{1, 2, 3}},
		{name: "a text among ascending numbers",
			text:    "1|2|3|4|10||\n5|6|7|8|9|test|11\n10|11|12|13|14||\n1961-11-21||||||\ntata||||||",
			records: []int{1, 2, 3, 4, 5}},
		{name: "words in two columns",
			text: "abandonment|abandonment\nabberations|abberations\nAbbevillian|Abbevillian\nabbreviated|abbreviated\nabbreviator|abbreviator\nabecedarian|abecedarian\nabhorrently|abhorrently", records: []int{1, 2, 3, 4, 5, 6, 7}, doubtful: true},
		{name: "values beside their labels",
			text: "Income per person\nSummary of the data\n\nDocumented by:|Garden 001\nVersion:|5\nUploaded: " +
				"|2009-04-27\n\nAuthor: |Ann Lee\nMail: |ann (at) garden.example\nPublished by: |the Garden " +
				"Foundation\nFor more information see: |https://garden.example/\nThe tab has these columns:|Name of " +
				"the country; sources of data\n\nNotes\nFile used:|file k4\n\nChanges:\nVersion 4: Added " +
				"data.|2009-04-12\nMinor checks|2009-04-16\nChanged the name|2009-04-17\nVersion 5: new data|2009-04-27",
			records: []int{1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 14, 15, 17, 18, 19, 20, 21}, doubtful: true},
		{name: "persons", text: "KEANE,  ERIN S\nLOUGHNEY,  CHRISTINA J\nHERNANDEZ,  JOB\nADAMS JR,  BOB",
			records: []int{1, 2, 3, 4}, doubtful: true},
		{name: "countries", text: "Bonaire, Saint Eustatius and Saba|BQ|\nAruba|AW|AA\nAntigua and " +
			"Barbuda|AG|AC\nUnited Arab Emirates|AE|AE\nAfghanistan|AF|AF", records: []int{1, 2, 3, 4, 5},
			doubtful: true},
		{name: "a null", text: "Airbus|A30|\\N\nBoeing|B77|B777\nFokker|F10|F100", records: []int{1, 2, 3}},
		{name: "a title above records", text: "Scores|||\nA|1|2|3\nB|4|5|9", records: []int{1, 2, 3}, doubtful: true},
		{name: "titles, a blank row and records", text: "Scores\n\n1.5|2.5|3.5\n4.5|5.5|6.5", records: []int{3, 4},
			doubtful: true},
		{name: "facts above texts", text: "Country|Chile\nYear|2017\nid|name|n|k\na|x|p|q\nb|y|r|s",
			records: []int{1, 2, 3, 4, 5}, doubtful: true},
		// Titles.
		{name: "a title", text: "Prices 2024\n\nid|name|price\n1|rose|2\n2|elm|3", header: []int{3}},
		{name: "titles without a gap", text: "Prices\nSource: garden\nid|name|price\n1|rose|2\n2|elm|3",
			header: []int{3}},
		{name: "a title above texts", text: "Plants\nname|color|origin\nrose|red|Asia\nelm|green|Europe",
			header: []int{2}, doubtful: true},
		{name: "titles that look like numbers", text: "Office\n1-877-882-3277\n2019-04-04\nid|name|n\na|x|1\nb|y|2",
			header: []int{4}},
		{name: "facts above names", text: "Country|Chile\nYear|2017\nid|name|n|k\na|x|1|2\nb|y|2|3", header: []int{3}},
		{name: "facts above a gap", text: "Country|Chile\nYear|2017\n\nid|name|n|k\na|x|p|q\nb|y|r|s", header: []int{4},
			doubtful: true},
		{name: "a stray link beside the title",
			text:   "Weekly deaths||||Contents\n\nWeek|ended|all|men|women\n1|a|2|1|1\n2|b|4|2|2\n3|c|6|3|3",
			header: []int{3}},
		{name: "more names below names",
			text: "some notes\nor||merging|cells\nname|job|age|born\nAnn|cook|5|2001-02-03\nBob|poet|6|2002-02-03\nCid||7", header: []int{3}},
		{name: "names above numbers, below plausible ones",
			text: "Charge per " +
				"hour:|7.5|\nDate|Hours|Charge\n2020-01-06|7.5|56.25\n2020-01-07|7.25|54.4\n2020-01-08|6.5|48.8",
			header: []int{2}},
		{name: "a legend above all names",
			text: "|Good|Fair|Poor|\nProduct|Brakes|Seat|Repair|Score\nA|5|1|1|2\nB|4|3|3|5\nC|3|3|3|3\nD|1|2|2|2\nE|5|4|2|1\nF|4|4|4|4", header: []int{2}},
		{name: "a pivot table", text: "Sum of Sales|Sport|\nQuarter|Golf|Tennis\nQtr1|6969|4070\nQtr2|6430|5000\nQtr3|1500|600\nQtr4|2000|1500\nTotal|16899|11170", header: []int{2}},
		{name: "a table of facts",
			text: "Four groups of the Air " +
				"Force\nGROUP|31ST|52ND|325th|332nd\nSQUADRONS|THREE|THREE|THREE|FOUR*\nAIRCRAFT|P-51|P-51|P-51|P-47\nTAIL COLOR|Striped red|Solid yellow|Yellow and black|Solid red\nBASE|San Severo|Madna, Piagiolino|Lesina|Ramitelli\n" +
				"VICTORIES|278|224.5|252|94\nACES|10|10|11|0\nLOST|2.49|2.08|2.22|0.66\nSHOT " +
				"DOWN|0.7|0.6|0.7|0.3\nMISSIONS|379|349|359|312\nESCORTS|184|193|192|179\nENCOUNTERS|53|66|53|35\nBOMBERS|16|18|18|7\nLOST BOMBERS|49|88|68|27\nAVERAGE LOST|0.2|0.4|0.3|0.1", header: []int{2}, doubtful: true},
		{name: "merged titles above two columns", text: "Plants\nof the garden\nname|color\nrose|red\nelm|green",
			merges: []table.Merge{{1, 0, 1, 1}, {2, 0, 2, 1}}, header: []int{3}, doubtful: true},
		{name: "many titles", text: "a b\nc d\ne f\ng h\ni j\nk l\nid|name|price\n1|rose|2\n2|elm|3", header: []int{7}},
		{name: "numbers above names", text: "1\n2\nid|name|n\na|x|1\nb|y|2", records: []int{1, 2, 3, 4, 5},
			doubtful: true},
		{name: "a form without records", text: "Request|||\n\nAccount:|||\n\nType|Number|Agreement|Mobile",
			records: []int{1, 3, 5}, doubtful: true},
		// Several rows.
		{name: "names of two rows",
			text: "|Maint &||MR as percent\n|repair (MR)|Investment|of " +
				"investment\n1997|6279.27|42522|0.147\n1998|6589.31|45659|0.144\n1999|7108.54|49650|0.143",
			header: []int{1, 2},
			names:  ",Maint & repair (MR),Investment,MR as percent of investment"},
		{name: "groups without merged cells", text: "|Boys||Girls|\nSchool|2019|2020|2019|2020\n" + numbers,
			header: []int{1, 2}, names: "School,Boys 2019,Boys 2020,Girls 2019,Girls 2020"},
		{name: "groups below a title", text: "Pupils\n|Boys||Girls|\nSchool|2019|2020|2019|2020\n" + numbers,
			header: []int{2, 3}, names: "School,Boys 2019,Boys 2020,Girls 2019,Girls 2020"},
		{name: "a name beside groups", text: "School|Boys||Girls|\n|n|%|n|%\n" + numbers, header: []int{1, 2},
			names: "School,Boys n,Boys %,Girls n,Girls %"},
		{name: "years as groups", text: "|2019||2020|\nTown|men|women|men|women\n" + numbers, header: []int{1, 2},
			names: "Town,2019 men,2019 women,2020 men,2020 women"},
		{name: "names of groups repeated", text: "|Boys|Boys|Girls|Girls\nSchool|2019|2020|2019|2020\n" + numbers,
			header: []int{1, 2}, names: "School,Boys 2019,Boys 2020,Girls 2019,Girls 2020"},
		{name: "merged groups", text: "|Size||Price|\nid|w|h|net|gross\n" + numbers,
			merges: []table.Merge{{1, 1, 1, 2}, {1, 3, 1, 4}}, header: []int{1, 2},
			names: "id,Size w,Size h,Price net,Price gross"},
		{name: "groups that are not necessary", text: "|Size||Price|\nid|w|h|net|gross\n" + numbers, header: []int{2}},
		{name: "one merged group", text: "id|Size|\n|w|h\na|1|2\nb|1|2",
			merges: []table.Merge{{1, 0, 2, 0}, {1, 1, 1, 2}}, header: []int{1, 2}, names: "id,Size w,Size h"},
		{name: "three rows with merged cells",
			text:   "|North||||South|||\n|Boys||Girls||Boys||Girls|\nSchool|2019|2020|2019|2020|2019|2020|2019|2020\nA|1|2|3|4|5|6|7|8\nB|1|2|3|4|5|6|7|9",
			merges: []table.Merge{{1, 1, 1, 4}, {1, 5, 1, 8}, {2, 1, 2, 2}, {2, 3, 2, 4}, {2, 5, 2, 6}, {2, 7, 2, 8}},
			header: []int{1, 2, 3},
			names: "School,North Boys 2019,North Boys 2020,North Girls 2019,North Girls 2020,South Boys 2019,South " +
				"Boys 2020,South Girls 2019,South Girls 2020"},
		{name: "three rows without merged cells",
			text: "|North||||South|||\n|Boys||Girls||Boys||Girls|\nSchool|2019|2020|2019|2020|2019|2020|2019|2020\nA|1|2|3|4|5|6|7|8\nB|1|2|3|4|5|6|7|9", header: []int{2, 3},
			names: "School,Boys 2019,Boys 2020,Girls 2019,Girls 2020,Boys 2019,Boys 2020,Girls 2019,Girls 2020"},
		{name: "merged above a record", text: "id|Name|\n7|Ann|Lee\n8|Bob|Ray", merges: []table.Merge{{1, 1, 1, 2}},
			header: []int{1}},
		{name: "a merged title", text: "Prices\nid|w|h\na|1|2\nb|1|2", merges: []table.Merge{{1, 0, 1, 2}},
			header: []int{2}},
		{name: "a sentence above the first name",
			text:   "Data most recently refreshed on:||Dec 2020\nid|w|h\na|1|2\nb|1|2",
			merges: []table.Merge{{1, 0, 1, 1}}, header: []int{2}},
		{name: "a gap below groups", text: "|Boys||Girls|\n\nSchool|2019|2020|2019|2020\n" + numbers, header: []int{3}},
		{name: "units", text: "id|mass|speed\n|kg|m/s\na|1|2\nb|3|4", header: []int{1, 2},
			names: "id,mass kg,speed m/s"},
		{name: "units that make names different", text: "School|Boys|Boys|Girls|Girls\n|n|%|n|%\n" + numbers,
			header: []int{1, 2}, names: "School,Boys n,Boys %,Girls n,Girls %"},
		{name: "marks of missing numbers in the first record",
			text: "Area|2019|2020\nOhio|[c]|[c]\nUtah|12|13\nIowa|14|15\nMaine|16|17", header: []int{1}},
		{name: "missing numbers in the first record", text: "id|mass|speed\na|-|-\nb|3|4\nc|5|6", header: []int{1}},
		{name: "units as names", text: "kg|m|s\n1|2|3\n4|5|6", header: []int{1}},
		{name: "names that are words for units", text: "Report|A|B\nyear|count|days\n2001|2|3\n2002|4|5\n2003|6|7",
			header: []int{2}},
		{name: "letters above names, formulas below",
			text:   "||'A'|'B'|'C'|'D'|'E'|'F'|'G'|'H'|'I'\nSERIES||ISSUED|REDEEMED|OUTSTANDING|MATURED|UNMATURED|REDEEMED OF MATURED|OUTSTANDING OF MATURED|OUTSTANDING OF UNMATURED|REDEEMED OF UNMATURED\n|||A - C|A - B|A - E|A - D|B - I|C - H|C - G|B - F\nSeries E|E|4599|4566|3276|4599|0|4566|3276|0|0\nSeries EE|EE|1979|1474|5048|2488|1730|2358|1304|4918|1238\nSavings|SN|3085|3064|2100|3085|0|3064|2100|0|0\nSeries H|H|1638|1634|4112|1638|0|1634|4112|0|0\nSeries HH|HH|1493|1083|4101|6939|8000|6725|2145|3887|4112\nSeries F|F|5624|5615|9141|5624|0|5615|9141|0|0",
			header: []int{2, 3}, names: "SERIES,,ISSUED,REDEEMED A - C,OUTSTANDING A - B,MATURED A - E,UNMATURED A - " +
				"D,REDEEMED OF MATURED B - I,OUTSTANDING OF MATURED C - H,OUTSTANDING OF UNMATURED C - G,REDEEMED OF " +
				"UNMATURED B - F"},
		{name: "names that begin with the group", text: "|Plan||Actual|\nid|Plan net|Plan %|net|%\n" + numbers,
			merges: []table.Merge{{1, 1, 1, 2}, {1, 3, 1, 4}}, header: []int{1, 2},
			names: "id,Plan net,Plan %,Actual net,Actual %"},
		{name: "options that were chosen",
			text: "Please tell us who you are||Is it fair?|||Why?|Do others do " +
				"it?||\nName|Place|Yes|No|Other|Response|Yes|No|Response\nAnn Lee|Park Street 7||No||Polls are put " +
				"out at a point in time||No|\nBob Ray|Main Street 3|Yes|||It is accurate|Yes||They know it\nCid " +
				"Moe|Elm Road 12|||Mixed, it depends|Attempts are good|||\nEve Day|High Street 5||No||You do not use " +
				"all||No|\nFay Orr|Low Lane 9|Yes|||Measure of all polls|Yes||Some do", header: []int{1, 2},
			names: "Please tell us who you are Name,Please tell us who you are Place,Is it fair? Yes,Is it fair? " +
				"No,Is it fair? Other,Why? Response,Do others do it? Yes,Do others do it? No,Do others do it? Response"},
		{name: "dates below weeks",
			text: "Week|1|2|3|4\nended|2023-03-15|2023-03-22|2023-03-29|2023-04-05\nA|5|16|7|5\nB|5|60|7|5\nC|5|66|7|5\nD|5|16|7|5\nE|5|36|7|5", header: []int{1, 2},
			names: "Week ended,1 2023-03-15,2 2023-03-22,3 2023-03-29,4 2023-04-05"},
		{name: "a group beside names that span both rows",
			text: "Area|Total||Deaths\n|men|women|\nN|1|2|3\nS|4|5|6\nE|7|8|9", header: []int{1, 2},
			names: "Area,Total men,Total women,Deaths"},
		{name: "hyphens for names below a stray row",
			text: "|||2019||\nWeek|w15|w16|-|k15|-\n1|2|3||4|\n2|3|4||5|\n3|4|5||6|", header: []int{2}},
		{name: "a survey", text: "id|Age?|Fruit?|Why?\n|Response|Response|Open\n1|old|Apple|x\n2|young|Pear|y\n3|old|Pear|y\n4|old|Apple|x\n5|young|Apple|x", header: []int{1, 2},
			names: "id,Age? Response,Fruit? Response,Why? Open"},
		// Below the header.
		{name: "rows without a value", text: "id|n|x\na|1|2\n||\nb|3|4\n||", header: []int{1}, records: []int{2, 4}},
		{name: "a repeated header", text: "id|n|x\na|1|2\nid|n|x\nb|3|4", header: []int{1}, records: []int{2, 4}},
		{name: "a footnote", text: "id|n|x\na|1|2\nb|3|4\nc|5|6\nSource: the garden", header: []int{1},
			records: []int{2, 3, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := table.Sample{Rows: parse(c.text), Tabular: true, Merges: func() []table.Merge { return c.merges }}
			in.Tabular = c.name != "a log"
			l := table.Detect(in, rows.Options{})
			var header []int
			var names []string
			for _, r := range in.Rows[l.First:l.End] {
				header = append(header, r.Line)
			}
			names = l.Names
			if c.names == "" {
				names = nil
			}
			if diff := cmp.Diff(c.header, header); diff != "" || strings.Join(names, ",") != c.names ||
				l.Doubtful != c.doubtful {
				t.Errorf("got names %q, score %.2f, doubtful %v; lines of the header (-want +got):\n%s", l.Names,
					l.Score, l.Doubtful, diff)
			}
			var left herb.Layout
			got, err := lines(table.NewBody(in, l, 5, false, &left), in.Rows[l.End:])
			want := c.records
			if want == nil {
				for _, r := range in.Rows[l.End:] {
					want = append(want, r.Line)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || err != io.EOF {
				t.Errorf("error %v, records (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text  string
		o           rows.Options
		first, size int
	}{
		{"none", "id|n\na|1\nb|2", rows.Options{Header: rows.HeaderNone}, 0, 0},
		{"present", "1|2\n3|4\n5|6", rows.Options{Header: rows.HeaderPresent}, 0, 1},
		{"given rows with another between", "a|b\nx|y\nc|d\n1|2", rows.Options{HeaderRows: []int{1, 3}}, 0, 3},
		{"skipped titles", "5|6\n7|8", rows.Options{Skip: 2}, 0, 1},
		{"groups below skipped titles", "|Boys||Girls|\nSchool|2019|2020|2019|2020\nA|1|2|3|4\nB|5|6|7|8",
			rows.Options{Skip: 1}, 0, 2},
		{"detected", "T\nid|n|m\na|1|2\nb|2|3", rows.Options{}, 1, 1},
		{"its names", "T\nid|n|2020", rows.Options{HeaderNames: []string{"2020", "id"}}, 1, 1},
		{"other names", "T\nid|n|m\na|1|2\nb|2|3", rows.Options{HeaderNames: []string{"id", "x"}}, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := table.Detect(table.Sample{Rows: parse(c.text), Tabular: true}, c.o)
			if l.First != c.first || l.End-l.First != c.size {
				t.Errorf("got row %d and %d rows; want row %d and %d rows", l.First, l.End-l.First, c.first, c.size)
			}
		})
	}
}

// TestBody reads tables whose header is the first row. want lists the lines of the records.
func TestBody(t *testing.T) {
	t.Parallel()
	const records = "id|n|x\na|1|2\nb|3|4\nc|5|6\n"
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"a plain table", records, []int{2, 3, 4}},
		{"a source", records + "Source: the garden", []int{2, 3, 4}},
		{"a copyright", records + " © the garden", []int{2, 3, 4}},
		{"notes after a gap", records + "\n* estimated\nanother line", []int{2, 3, 4}},
		{"a sentence after a gap", records + "\nValues may not add up due to rounding", []int{2, 3, 4}},
		{"blank rows above", records + "||\n||\nNote: x||", []int{2, 3, 4}},
		{"text below numbers", "year|n\n2001|2\n2002|3\n2003|4\n\nprovisional", []int{2, 3, 4}},
		{"an incomplete record", records + "d||", []int{2, 3, 4, 5}},
		{"an incomplete record after a gap", records + "\nd", []int{2, 3, 4, 6}},
		{"a mark without a gap below numbers", "year|n\n2001|2\n2002|3\n2003|4\n* provisional", []int{2, 3, 4}},
		{"a mark without a gap", records + "*NSYNC", []int{2, 3, 4, 5}},
		{"an incomplete record and a source", records + "d\nSource: x", []int{2, 3, 4, 5}},
		{"a source and a record", records + "Source: x\nd|7|8", []int{2, 3, 4, 5, 6}},
		{"blank rows", records + "||\n||", []int{2, 3, 4}},
		{"sections", "id|n\nEurope\na|1\nb|2\nAsia\nc|3\nd|4\n\n* a remark of a few words", []int{2, 3, 4, 5, 6, 7, 9}},
		{"more notes than records", "id|n\na|1\nb|2\n\n* x\ny\nz", []int{2, 3, 5, 6, 7}},
		{"remarks as records", "remark|n\nNote: call Ann|1\nNote: call Bob|2\nNote: call Cid", []int{2, 3, 4}},
		{"remarks as records and a source", "remark|n\nNote: call Ann|1\nNote: call Bob|2\n\nSource: Cid", []int{2, 3}},
		{"sentences as records and a source",
			"item|n\nExclusion of pension contributions and earnings|1\nDeduction of interest on a mortgage of a " +
				"home|2\nSource: Updated estimates of the authors|", []int{2, 3}},
		{"a source below one record", "id|n|x\na|1|2\nSource: x", []int{2, 3}},
		{"a source with delimiters", records + "Source: Eurostat| 2019| own calculations", []int{2, 3, 4}},
		{"a source with more delimiters than columns", records + "\nSource: a| b| c| d\nof 1|200 people| and more",
			[]int{2, 3, 4}},
		{"a sentence with delimiters", records + "\nValues may not add up| due to rounding", []int{2, 3, 4}},
		{"a sentence with delimiters without a gap", records + "Values may not add up| due to rounding",
			[]int{2, 3, 4, 5}},
		{"a total with blanks", records + "\nTotal of all rows that are above| 9| 12", []int{2, 3, 4, 6}},
		{"a word with delimiters", records + "\nd| none", []int{2, 3, 4, 6}},
		{"a source without blanks", records + "Source: a|b|c", []int{2, 3, 4, 5}},
		{"a source like records", "id|n\na| x\nb| y\nSource: c| z", []int{2, 3, 4}},
		{"blanks in all records", "year|n\n2001| 1\n2002| 2\nSource: c| z", []int{2, 3, 4}},
		{"a source with delimiters and a record", records + "Source: a| b\nd|7|8", []int{2, 3, 4, 5, 6}},
		{"a total", records + "\nTotal|9|12", []int{2, 3, 4, 6}},
		{"repeated header", "id|n|x\na|1|2\nid|n|x\nb|3|4\nid|n|x\nc|5|6", []int{2, 4, 6}},
		{"repeated header of text", "name|city|land\nAnn|Rome|IT\nname|city|land\nBob|Oslo|NO", []int{2, 4}},
		{"two names", "name|city\nAnn|Rome\nname|city\nBob|Oslo", []int{2, 3, 4}},
		{"two names, three times", "name|city\nAnn|Rome\nname|city\nBob|Oslo\nname|city", []int{2, 4}},
		{"two names above numbers", "name|n\nAnn|1\nname|n\nBob|2", []int{2, 4}},
		{"one name above numbers", "n\n1\nn\n2", []int{2, 3, 4}},
		{"recurring words", "p|x|s\ne|x|t\np|x|s\ne|b|s", []int{2, 3, 4}},
		{"words in other columns", "foo|bar|baz\nbar|baz|foo\nfoo|bar|baz\nbaz|foo|bar", []int{2, 3, 4}},
		{"nothing but the header", "a|b|c\na|b|c", []int{2}},
		{"a wider table below", records + "\nTravel\nid|day|place|cost\na|Monday|Rome|5\nb|Friday|Oslo|6",
			[]int{2, 3, 4}},
		{"a wider table of texts with a title",
			records + "\nTravel\n\nid|day|place|reason\na|Monday|Rome|work\nb|Friday|Oslo|fun",
			[]int{2, 3, 4, 6, 8, 9, 10}},
		{"a narrower table below", records + "\ntown|total\nRome|5\nOslo|6", []int{2, 3, 4}},
		{"a table of years below", records + "|||\ntown|2019|2020\nRome|5|\nOslo|6|7", []int{2, 3, 4, 6, 7, 8}},
		{"a table of the same names in another order", records + "\nx|id|n\n1|a|2\n3|b|4", []int{2, 3, 4}},
		{"a table of the same width",
			records + "\ntown|area|people\nRome|5|6\nOslo|7|8\n\nname|city|size|age\nAnn|Rome|5|6", []int{2, 3, 4}},
		{"the same header below a gap", records + "\nid|n|x\nd|7|8", []int{2, 3, 4, 7}},
		{"a remark below a gap", "name|city|n\nAnn|Rome|5\nCid|Bern|7\n\nBob|Oslo|unknown\nDan|Rome|4",
			[]int{2, 3, 5, 6}},
		{"incomplete records below a gap", records + "\nd|none\ne|7|8", []int{2, 3, 4, 6, 7}},
		{"texts below a gap", "name|city|job\nAnn|Rome|cook\n\nBob|Oslo|poet\nCid|Bern|smith", []int{2, 4, 5}},
		{"sections", "town|2019|2020\nNorth\nLeeds|5|6\n\nSouth\nBath|7|8\nWells|9|1", []int{2, 3, 5, 6, 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			all := parse(strings.TrimSuffix(c.text, "\n"))
			var left herb.Layout
			b := table.NewBody(table.Sample{Rows: all}, table.Header{End: 1}, len(all[0].Cells), false, &left)
			got, err := lines(b, all[1:])
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF {
				t.Errorf("error %v, records (-want +got):\n%s", err, diff)
			}
			if n := len(got) + left.LeftOut; n != len(all)-1 || len(left.Rows) != left.LeftOut {
				t.Errorf("%d rows are records and %d are left out; there are %d", len(got), left.LeftOut, len(all)-1)
			}
		})
	}
}

// lines reads all records and returns their lines. Rows are valid until the next one is read.
func lines(b *table.Body, left []table.Row) (found []int, err error) {
	shared := make([][]byte, 20)
	for {
		r, err := b.Next(func() (table.Row, error) {
			if len(left) == 0 {
				return table.Row{}, io.EOF
			}
			r := left[0]
			left = left[1:]
			for i, c := range r.Cells {
				shared[i] = append(shared[i][:0], c...)
			}
			r.Cells = shared[:len(r.Cells)]
			return r, nil
		})
		if err != nil {
			return found, err
		}
		found = append(found, r.Line)
	}
}

// TestBody_Held reads many rows that may be footnotes, and an error among them.
func TestBody_Held(t *testing.T) {
	t.Parallel()
	newBody := func(sample []table.Row, columns int) (*table.Body, *herb.Layout) {
		left := &herb.Layout{}
		return table.NewBody(table.Sample{Rows: sample}, table.Header{End: 1}, columns, false, left), left
	}
	all := parse("id|n|x\na|1|2\nb|3|4" + strings.Repeat("\nSource: x", 1000) + "\nc|5|6")
	b, left := newBody(all, 3)
	got, err := lines(b, slices.Clone(all[1:]))
	if len(got) != len(all)-1 || !slices.IsSorted(got) || err != io.EOF || left.LeftOut != 0 {
		t.Errorf("%d of %d records, error %v, left out %d", len(got), len(all)-1, err, left.LeftOut)
	}
	all = parse("id|n\n" + strings.Repeat("a|1\n", 500) + strings.Repeat("Source: x\n", 400))
	b, left = newBody(all[:500], 2)
	if got, err := lines(b, all[1:]); len(got) != 900 || err != io.EOF || left.LeftOut != 0 {
		t.Errorf("%d of 900 records, error %v, left out %d", len(got), err, left.LeftOut)
	}
	all = parse("id|n\na|1\nb|2\nRemark| x\nc|3\nSource: a| b")
	b, _ = newBody(all[:3], 2)
	if got, err := lines(b, all[1:]); len(got) != 5 || err != io.EOF {
		t.Errorf("%d of 5 records, error %v: a record below the sample looks like a footnote", len(got), err)
	}
	failure := errors.New("damaged")
	if _, err := b.Next(func() (table.Row, error) { return table.Row{}, failure }); err != io.EOF {
		t.Errorf("got error %v after the end", err)
	}
	b, _ = newBody(nil, 2)
	if _, err := b.Next(func() (table.Row, error) { return table.Row{}, failure }); err != failure {
		t.Errorf("got error %v", err)
	}
}

func TestWithoutNotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"a|1\nb|2":                         2,
		"a|1\nb|2\nc":                      2,
		"a\nb\nc\nd":                       4,
		"a| x\nb| y\nc":                    2,
		"a|1\nb|2\nc|3\nSource: a| b\nd e": 3,
		"a| x\nb| y":                       2,
	} {
		if got := len(table.WithoutNotes(parse(text))); got != want {
			t.Errorf("%q: got %d rows, want %d", text, got, want)
		}
	}
}

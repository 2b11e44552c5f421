package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/column"
	"herbarium/internal/segment/internal/file"
	"herbarium/internal/segment/internal/fulltext"
	"herbarium/internal/typed"
)

var (
	update = flag.Bool("update", false, "rewrite the hex dump in the description of the format")
	freeze = flag.Bool("freeze", false, "write the files of this format version that do not exist yet")
)

// formatDoc is the specification of the format.
const formatDoc = "../../docs/format/segment.md"

// dataset is the input of a build.
type dataset struct {
	fields  []herb.Field
	records []herb.Record
}

// threeRecords returns records for a file with every kind of section, a missing value, a term with
// a frequency of 2, and non-ASCII letters.
func threeRecords() dataset {
	return dataset{
		fields: []herb.Field{
			{Name: "name", Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true},
			{Name: "tags", Type: herb.TypeList, Filterable: true, Sortable: true},
		},
		records: []herb.Record{
			{"Rose rose", "red, climbing"},
			{"Oak", ""},
			{"Aloë", "red"},
		},
	}
}

// create builds a file and returns its bytes.
func create(t *testing.T, d dataset, opts Options) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.seg")
	if err := createAt(t.Context(), path, d, opts); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func createAt(ctx context.Context, path string, d dataset, opts Options) error {
	_, err := Create(ctx, path, d.fields, func(yield func(herb.Record, error) bool) {
		for _, r := range d.records {
			if !yield(r, nil) {
				return
			}
		}
	}, opts)
	return err
}

// document returns the specification of the format.
func document(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCreate_deterministic checks that the same records produce the same bytes, in every build and
// with any memory.
func TestCreate_deterministic(t *testing.T) {
	t.Parallel()
	for name, d := range frozenDatasets() {
		first := create(t, d, Options{})
		for _, opts := range []Options{{}, {Memory: 512}} {
			if !bytes.Equal(create(t, d, opts), first) {
				t.Errorf("%s: a second build, with %+v, is different", name, opts)
			}
		}
	}
}

// TestFormatDoc_sections compares the documented sections with the tags in the code, and their
// headings with the Go names.
func TestFormatDoc_sections(t *testing.T) {
	t.Parallel()
	perField := map[string]bool{}
	content := create(t, threeRecords(), Options{})
	sections, err := file.ReadTable(content)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		perField[s.Tag.String()] = s.Field != file.NoField
	}
	// numbers and dates have it instead of VKEY
	perField[file.TagValues.String()] = true
	// of datasets with coordinates
	perField[file.TagPositions.String()], perField[file.TagCellOrder.String()] = true, true
	var want []string
	for tag, name := range tagsInCode(t) {
		field, ok := perField[tag]
		if !ok {
			t.Errorf("the example has no section %s", tag)
		}
		want = append(want, tag+" "+name+" "+scope(field))
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^#+ `(.{4})`: (.*) \\((.*)\\)$").FindAllStringSubmatch(document(t), -1) {
		got = append(got, m[1]+" "+strings.ReplaceAll(m[2], "-", " ")+" "+m[3])
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("sections, - in the code, + in the document:\n%s", d)
	}
}

func scope(perField bool) string {
	if perField {
		return "per field"
	}
	return "once"
}

// tagsInCode returns the variables of type Tag declared in package file: by tag, the words of the
// name, such as "term postings" for TagTermPostings.
func tagsInCode(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("internal/file/*.go")
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Tag") {
				return true
			}
			var tag strings.Builder
			for _, e := range spec.Values[0].(*ast.CompositeLit).Elts {
				c, err := strconv.Unquote(e.(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				tag.WriteString(c)
			}
			words := regexp.MustCompile(`[A-Z][a-z]*`).FindAllString(strings.TrimPrefix(spec.Names[0].Name, "Tag"), -1)
			tags[tag.String()] = strings.ToLower(strings.Join(words, " "))
			return false
		})
	}
	if len(tags) == 0 {
		t.Fatal("no tags found in the code")
	}
	return tags
}

// TestFormatDoc_constants compares the documented numbers with those in the code.
func TestFormatDoc_constants(t *testing.T) {
	t.Parallel()
	doc := document(t)
	folded := regexp.MustCompile(`\s+`).ReplaceAllString(doc, " ")
	for _, want := range []string{
		fmt.Sprintf("| magic | `% x` |", file.Magic),
		fmt.Sprintf("| format version | %d |", FormatVersion),
		fmt.Sprintf("| header | %d bytes |", file.HeaderSize),
		fmt.Sprintf("| entry of the table of contents | %d bytes |", file.EntrySize),
		fmt.Sprintf("| footer | %d bytes |", file.FooterSize),
		fmt.Sprintf("| alignment | %d bytes |", file.Alignment),
		fmt.Sprintf("| `field` of a section without a field | %d |", uint32(file.NoField)),
		fmt.Sprintf("| records | at most %d |", MaxRecords),
		fmt.Sprintf("| divisions of the sorted rows | %d |", column.LeadingSets),
		fmt.Sprintf("| long run | from %d records |", column.LongRun),
		fmt.Sprintf("more than %d bytes on average", build.MaxValueSize),
		fmt.Sprintf("| stored term frequency | up to %d |", fulltext.MaxFrequency),
		fmt.Sprintf("fewer than %d records store no prefixes", build.DefaultIndexes().MinRecords),
		fmt.Sprintf("fewer than %d records, no term is frequent", build.DefaultIndexes().MinRecords),
		fmt.Sprintf("at most %d in all records", uint32(file.MaxElements)),
		fmt.Sprintf("at least *n*² / %d", build.DefaultIndexes().Bigrams.Share),
		fmt.Sprintf("more than *n* / %d bigrams", 8/build.DefaultIndexes().Bigrams.MaxPerEight),
		fmt.Sprintf("at least *n* / %d", build.DefaultIndexes().Prefixes.Share),
		fmt.Sprintf("more than %d sets of prefixes", build.DefaultIndexes().Prefixes.MaxFieldSets),
		fmt.Sprintf("set *j* (1 to %d)", column.LeadingSets-1),
		fmt.Sprintf("the first *j* · *n* / %d ranks", column.LeadingSets),
	} {
		if !strings.Contains(folded, want) {
			t.Errorf("the document does not say %q", want)
		}
	}
	newest := 0
	for _, m := range regexp.MustCompile(`(?m)^\| v(\d+) \|`).FindAllStringSubmatch(doc, -1) {
		v, err := strconv.Atoi(m[1])
		if err != nil || v != newest+1 {
			t.Errorf("the version history has v%s after v%d", m[1], newest)
		}
		newest = v
	}
	if newest != FormatVersion {
		t.Errorf("the version history ends with v%d; this is v%d", newest, FormatVersion)
	}
}

// TestFormatDoc_frame adds up the tables of the fixed parts.
func TestFormatDoc_frame(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for heading, size := range map[string]int{
		"## Header": file.HeaderSize, "## Table of contents": file.EntrySize, "## Footer": file.FooterSize,
	} {
		_, rest, ok := strings.Cut(doc, "\n"+heading+"\n")
		if !ok {
			t.Errorf("the document has no part %q", heading)
			continue
		}
		part, _, _ := strings.Cut(rest, "\n## ")
		at := 0
		for _, m := range regexp.MustCompile(`(?m)^\| (\d+) \| (\d+) \|`).FindAllStringSubmatch(part, -1) {
			if m[1] != strconv.Itoa(at) {
				t.Errorf("%s: a row begins at %s, after the end of the one before at %d", heading, m[1], at)
			}
			n, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			at += n
		}
		if at != size {
			t.Errorf("%s: the rows have %d bytes; it has %d", heading, at, size)
		}
	}
}

// TestFormatDoc_dump compares the documented dump with that of the same records.
func TestFormatDoc_dump(t *testing.T) {
	t.Parallel()
	const begin, end = "<!-- dump -->\n```text\n", "```\n<!-- end of dump -->"
	doc := document(t)
	before, rest, ok := strings.Cut(doc, begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the document has no dump between %q and %q", begin, end)
	}
	want := annotated(t, threeRecords())
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("the dump differs (- document, + code); go test -run %s -update rewrites it:\n%s", t.Name(),
			gocmp.Diff(got, want))
	}
	if err := os.WriteFile(formatDoc, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// annotated returns the bytes of a file in the format of hexdump -C, split into the parts of the
// file, each after a line that describes it.
func annotated(t *testing.T, d dataset) string {
	t.Helper()
	content := create(t, d, Options{})
	sections, err := file.ReadTable(content)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	at := 0
	part := func(to int, format string, args ...any) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, format+"\n", args...)
		for ; at < to; at = min(at+16, to) {
			hexRow(&b, at, content[at:min(at+16, to)])
		}
	}
	nameOf := func(s file.Section) string {
		if s.Field == file.NoField {
			return s.Tag.String()
		}
		return s.Tag.String() + " of " + d.fields[s.Field].Name
	}
	part(file.HeaderSize, "header: version %d", FormatVersion)
	for i, s := range sections {
		// padding is shown with the preceding section
		to := len(content) - file.FooterSize - file.EntrySize*len(sections)
		if i+1 < len(sections) {
			to = int(sections[i+1].Offset)
		}
		part(to, "%s: %s", nameOf(s), meaning(t, s.Tag, content[s.Offset:s.Offset+s.Length]))
	}
	for _, s := range sections {
		part(at+file.EntrySize, "entry of %s: offset %d, length %d", nameOf(s), s.Offset, s.Length)
	}
	part(len(content), "footer: table of contents at %d, %d bytes; file of %d bytes",
		len(content)-file.FooterSize-file.EntrySize*len(sections), file.EntrySize*len(sections), len(content))
	return b.String()
}

// hexRow writes a row of a dump.
func hexRow(b *strings.Builder, at int, row []byte) {
	fmt.Fprintf(b, "%08x  ", at)
	for i := range 16 {
		if i < len(row) {
			fmt.Fprintf(b, "%02x ", row[i])
		} else {
			b.WriteString("   ")
		}
		if i == 7 {
			b.WriteByte(' ')
		}
	}
	b.WriteString(" |")
	for _, c := range row {
		if c < 0x20 || c > 0x7e {
			c = '.'
		}
		b.WriteByte(c)
	}
	b.WriteString("|\n")
}

// meaning describes the content of a section.
func meaning(t *testing.T, kind file.Tag, b []byte) string {
	t.Helper()
	if len(b) == 0 {
		return "empty"
	}
	switch kind {
	case file.TagMetadata:
		return "the description"
	case file.TagRecords:
		return "the records"
	case file.TagValues, file.TagValueKeys:
		return "shared length, length of the rest, rest"
	case file.TagFacts:
		var all []typed.Facts
		for ; len(b) > 0; b = b[typed.FactsSize:] {
			all = append(all, typed.DecodeFacts(b))
		}
		return fmt.Sprint(all)
	case file.TagNonUniformRuns:
		return fmt.Sprintf("bits %08b", b)
	case file.TagElementPositions:
		return fmt.Sprint(b)
	case file.TagForwardIndex:
		return "words by number + 1, 0 ends a field"
	case file.TagRecordOffsets, file.TagForwardOffsets:
		var all []uint64
		for i := range file.U64s(b).Len() {
			all = append(all, file.U64s(b).At(i))
		}
		return fmt.Sprint(all)
	case file.TagElements, file.TagTerms:
		var all []string
		for _, e := range tableOf(b) {
			all = append(all, string(e))
		}
		return fmt.Sprintf("%q", all)
	case file.TagLeadingSets, file.TagLongRunSets, file.TagElementPostings, file.TagTermPostings,
		file.TagTermFrequencies, file.TagPrefixPostings, file.TagPrefixFrequencies,
		file.TagBigramPostings, file.TagBigramFrequencies:
		return meaningOfSets(t, b)
	default:
		return fmt.Sprint(file.U32s(b).AppendTo(nil))
	}
}

func meaningOfSets(t *testing.T, b []byte) string {
	t.Helper()
	table := tableOf(b)
	var all []string
	for i := 0; i < len(table); {
		set := roaring.New()
		if len(table[i]) > 0 {
			if _, err := set.ReadFrom(bytes.NewReader(table[i])); err != nil {
				t.Fatal(err)
			}
		}
		times := 1
		for i+times < len(table) && bytes.Equal(table[i], table[i+times]) {
			times++
		}
		s := fmt.Sprintf("{%s}", strings.Trim(fmt.Sprint(set.ToArray()), "[]"))
		if times > 1 {
			s += fmt.Sprintf(" × %d", times)
		}
		all = append(all, s)
		i += times
	}
	return fmt.Sprintf("%d sets: %s", len(table), cmp.Or(strings.Join(all, ", "), "-"))
}

// tableOf decodes a table by its specification, independently of the code.
func tableOf(b []byte) [][]byte {
	n := binary.LittleEndian.Uint64(b)
	body := b[8*(n+2):]
	var items [][]byte
	for i := range n {
		starts := b[8*(i+1):]
		items = append(items, body[binary.LittleEndian.Uint64(starts):binary.LittleEndian.Uint64(starts[8:])])
	}
	return items
}

// frozenDatasets returns the inputs of the files in testdata, by name.
func frozenDatasets() map[string]dataset {
	return map[string]dataset{"three": threeRecords(), "many": manyRecords(), "long": longRuns(),
		"pairs": bigramWords(), "begun": prefixWords(), "blocks": frequentValues(), "fields": fieldWords()}
}

// manyRecords has all types of fields, missing values, values that compare equal, lists, escapes,
// several scripts and a term that exceeds the maximum frequency.
func manyRecords() dataset {
	d := dataset{fields: []herb.Field{
		{Name: "id", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "name", Type: herb.TypeText, Title: "Name", Searchable: true, Filterable: true, Sortable: true},
		{Name: "note", Type: herb.TypeText, Description: "free text", Searchable: true, Filterable: true,
			Sortable: true},
		{Name: "price", Type: herb.TypeNumber, Filterable: true, Sortable: true},
		{Name: "seen", Type: herb.TypeDate, Filterable: true, Sortable: true},
		{Name: "tags", Type: herb.TypeList, Searchable: true, Filterable: true, Sortable: true},
	}}
	names := []string{"Rose", "rose", "Åkerbär", "A\u030akerbär", "Ελιά", "Сирень", "植物園", "Zimt", "Ähre", "",
		"Aloë \"vera\"", "oak\\tree\n2", "🌵 Kaktus"}
	prices := []string{"", "1", "1.0", "-3.50", "12.25", "100", "0.1"}
	tags := []string{"", "red", "red,tall", " tall , , red", "blau,grün", "tall"}
	for i := range 200 {
		note := fmt.Sprintf("plant %d in garden %c", i, 'a'+i%5)
		switch {
		case i%9 == 4:
			note = ""
		case i == 77:
			note = strings.Repeat("moss ", 300) + "garden"
		case i%40 == 0:
			note += " with moss and more moss"
		}
		seen := fmt.Sprintf("20%02d-%02d-%02d", i%30, 1+i%12, 1+i%28)
		if i%11 == 5 {
			seen = ""
		}
		d.records = append(d.records, herb.Record{
			strconv.Itoa(i), names[i%len(names)], note, prices[i%len(prices)], seen, tags[i%len(tags)],
		})
	}
	return d
}

// longRuns has a run that is long enough to be stored as a set, a short one, and some records
// without a value.
func longRuns() dataset {
	return dataset{
		fields: []herb.Field{{Name: "v", Type: herb.TypeText, Filterable: true, Sortable: true}},
		records: slices.Concat(
			slices.Repeat([]herb.Record{{""}}, 50),
			slices.Repeat([]herb.Record{{"a"}}, column.LongRun),
			slices.Repeat([]herb.Record{{"b"}}, 50),
		),
	}
}

// bigramWords has the minimum number of records of a file with bigrams: some are frequent, some
// repeated, some occur in one order only, and some never.
func bigramWords() dataset {
	d := dataset{fields: []herb.Field{{Name: "t", Type: herb.TypeText, Searchable: true, Sortable: true}}}
	texts := []string{"red oak", "red oak red oak", "oak red", "red", "red oak elm", "oak", "elm oak"}
	for i := range build.DefaultIndexes().MinRecords {
		d.records = append(d.records, herb.Record{texts[i%7*(i%5)%7]})
	}
	return d
}

// prefixWords has the minimum number of records of a file with prefix postings: terms with common
// prefixes, none of them frequent, that occur once, twice and not at all.
func prefixWords() dataset {
	d := dataset{fields: []herb.Field{{Name: "t", Type: herb.TypeText, Searchable: true, Sortable: true}}}
	for i := range build.DefaultIndexes().MinRecords {
		text := fmt.Sprintf("elm oak%02d", i%20)
		switch i % 7 {
		case 0:
			text = "fir"
		case 1:
			text += fmt.Sprintf(" oak%02d", i%3+4)
		}
		d.records = append(d.records, herb.Record{text})
	}
	return d
}

// fieldWords has the minimum number of records of a file with field postings: frequent words in one
// field, the other, or both.
func fieldWords() dataset {
	d := dataset{fields: []herb.Field{
		{Name: "a", Type: herb.TypeText, Searchable: true},
		{Name: "b", Type: herb.TypeText, Searchable: true, Weight: 2},
	}}
	words := []string{"oak", "elm", "oaks elm", "rare"}
	for i := range build.DefaultIndexes().MinRecords {
		d.records = append(d.records, herb.Record{words[i%64%3], words[i%256/85]})
	}
	return d
}

// frequentValues has two frequent values in each of two fields. Formats 2 to 4 had an index of such
// values. Even prices are in category a, odd ones in category b and have tag y.
func frequentValues() dataset {
	d := dataset{fields: []herb.Field{
		{Name: "price", Type: herb.TypeNumber, Sortable: true},
		{Name: "category", Type: herb.TypeText, Filterable: true},
		{Name: "tags", Type: herb.TypeList, Filterable: true},
	}}
	n := build.DefaultIndexes().MinRecords
	for i := range n {
		price := i * 7919 % n
		d.records = append(d.records, herb.Record{strconv.Itoa(price), []string{"a", "b"}[price%2],
			[]string{"x", "x,y"}[price%2]})
	}
	return d
}

// TestFrozen_write writes the frozen files of this version. They are created once, when a format
// version is finished, and never changed, because they represent the files of users. Existing files
// are therefore kept.
//
//	go test ./internal/segment -run TestFrozen_write -freeze
func TestFrozen_write(t *testing.T) {
	if !*freeze {
		t.Skip("writes files; -freeze runs it")
	}
	dir := fmt.Sprintf("testdata/v%d", FormatVersion)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, d := range frozenDatasets() {
		path := filepath.Join(dir, name+".seg")
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Logf("%s is kept: %v", path, err)
			continue
		}
		if err := createAt(t.Context(), path, d, Options{}); err != nil {
			t.Error(err)
		}
	}
}

// frozenResults are the permanent results of queries on the frozen files: the total, and the values
// of one field on the first page.
var frozenResults = []struct {
	file, query, field string
	total              int
	values             []string
}{
	{"v5/three.seg", "", "name", 3, []string{"Rose rose", "Oak", "Aloë"}},
	{"v5/three.seg", "sort=name", "name", 3, []string{"Aloë", "Oak", "Rose rose"}},
	{"v5/three.seg", "tags=red&sort=tags&order=desc", "name", 2, []string{"Rose rose", "Aloë"}},
	{"v5/three.seg", "search=rose", "name", 1, []string{"Rose rose"}},
	{"v5/three.seg", "tags=", "name", 1, []string{"Oak"}},
	{"v5/many.seg", "per_page=5", "id", 200, []string{"0", "1", "2", "3", "4"}},
	{"v5/many.seg", "per_page=5&page=40", "id", 200, []string{"195", "196", "197", "198", "199"}},
	{"v5/many.seg", "sort=name&per_page=2", "name", 200, []string{"🌵 Kaktus", "🌵 Kaktus"}},
	{"v5/many.seg", "sort=name&order=desc&per_page=3&page=30", "name", 200, []string{"rose", "rose", "rose"}},
	{"v5/many.seg", "name=%C3%85kerb%C3%A4r&per_page=4", "id", 16, []string{"2", "15", "28", "41"}},
	{"v5/many.seg", "name=Rose&per_page=4", "id", 16, []string{"0", "13", "26", "39"}},
	{"v5/many.seg", "name=&per_page=4", "id", 15, []string{"9", "22", "35", "48"}},
	{"v5/many.seg", "name=Alo%C3%AB+%22vera%22&per_page=1", "name", 15, []string{"Aloë \"vera\""}},
	{"v5/many.seg", "name%5Bprefix%5D=oak%5Ctree%0A&per_page=1", "name", 15, []string{"oak\\tree\n2"}},
	{"v5/many.seg", "price=1&sort=id&order=desc&per_page=4", "id", 58, []string{"198", "197", "191", "190"}},
	{"v5/many.seg", "price%5Blt%5D=0.5&sort=price&per_page=4", "id", 57, []string{"3", "10", "17", "24"}},
	{"v5/many.seg", "price%5Bgte%5D=12.25&sort=price&order=desc&per_page=4&page=10", "id", 56,
		[]string{"60", "67", "74", "81"}},
	{"v5/many.seg", "seen%5Bgt%5D=2028-01-01&sort=seen&per_page=4", "seen", 11,
		[]string{"2028-05-01", "2028-05-05", "2028-11-03", "2028-11-07"}},
	{"v5/many.seg", "seen=&per_page=4", "id", 18, []string{"5", "16", "27", "38"}},
	{"v5/many.seg", "sort=seen&order=desc&per_page=4&page=45", "id", 200, []string{"150", "90", "30", "180"}},
	{"v5/many.seg", "tags=tall&per_page=6", "id", 99, []string{"2", "3", "5", "8", "9", "11"}},
	{"v5/many.seg", "tags=gr%C3%BCn&sort=tags&per_page=4", "id", 33, []string{"4", "10", "16", "22"}},
	{"v5/many.seg", "tags%5Bne%5D=red&per_page=6", "id", 100, []string{"0", "4", "5", "6", "10", "11"}},
	{"v5/many.seg", "search=moss&per_page=6", "id", 5, []string{"77", "0", "120", "80", "160"}},
	{"v5/many.seg", "search=%22in+garden+c%22&per_page=4", "id", 35, []string{"42", "72", "132", "7"}},
	{"v5/many.seg", "search=gar*+-plant", "id", 1, []string{"77"}},
	{"v5/many.seg", "search=akerbar&per_page=4", "id", 32, []string{"67", "94", "184", "42"}},
	{"v5/many.seg", "search=%E6%A4%8D%E7%89%A9&per_page=4", "id", 15, []string{"175", "58", "6", "84"}},
	{"v5/many.seg", "search=%F0%9F%8C%B5+red&sort=id&order=desc&per_page=4", "id", 8,
		[]string{"194", "181", "129", "116"}},
	{"v5/long.seg", "v=a&per_page=2&page=1024", "v", 2048, []string{"a", "a"}},
	{"v5/long.seg", "v=&per_page=1", "v", 50, []string{""}},
	{"v5/long.seg", "v=b&per_page=1&page=51", "v", 50, nil},
	{"v5/long.seg", "sort=v&order=desc&per_page=3&page=17", "v", 2148, []string{"b", "b", "a"}},
	{"v5/long.seg", "sort=v&per_page=4&page=525", "v", 2148, []string{"b", "b", "", ""}},
	{"v5/pairs.seg", "search=%22red+oak%22&per_page=2", "t", 2224, []string{"red oak red oak", "red oak red oak"}},
	{"v5/pairs.seg", "search=%22oak+red%22&per_page=2", "t", 936, []string{"oak red", "oak red"}},
	{"v5/pairs.seg", "search=%22red+oak+elm%22&per_page=1", "t", 468, []string{"red oak elm"}},
	{"v5/pairs.seg", "search=%22red+oak+red%22&per_page=1", "t", 468, []string{"red oak red oak"}},
	{"v5/pairs.seg", "search=%22elm+red%22", "t", 0, nil},
	{"v5/pairs.seg", "search=red-o*&sort=t&order=desc&per_page=1", "t", 2224, []string{"red oak red oak"}},
	{"v5/begun.seg", "search=oa*&per_page=2", "t", 3510, []string{"elm oak01 oak05", "elm oak08 oak06"}},
	{"v5/begun.seg", "search=oak0*&per_page=2", "t", 2047, []string{"elm oak01 oak05", "elm oak08 oak06"}},
	{"v5/begun.seg", "search=oak1*&per_page=2", "t", 1754, []string{"elm oak10", "elm oak11"}},
	{"v5/fields.seg", "a[match]=oak&per_page=2", "b", 1408, []string{"oak", "oak"}},
	{"v5/fields.seg", "b[match]=oak*&per_page=1", "b", 2720, []string{"oak"}},
	{"v5/fields.seg", "b[match]=rare&per_page=1", "a", 16, []string{"oak"}},
	{"v5/fields.seg", "a[match]=oa*&b[match]=-elm&per_page=3", "a", 928, []string{"oak", "oaks elm", "oak"}},
	{"v5/begun.seg", "search=elm+-oak1*&sort=t&order=desc&per_page=1", "t", 1756, []string{"elm oak09 oak06"}},
	{"v5/blocks.seg", "category=a&sort=price&per_page=3&page=600", "price", 2048, []string{"3594", "3596", "3598"}},
	{"v5/blocks.seg", "category=b&sort=-price&per_page=3&page=3", "price", 2048, []string{"4083", "4081", "4079"}},
	{"v5/blocks.seg", "tags=y&sort=price&per_page=2&page=512", "price", 2048, []string{"2045", "2047"}},
	{"v5/blocks.seg", "tags=x&sort=price&per_page=2&page=1025", "price", 4096, []string{"2048", "2049"}},
}

// openFrozen opens a frozen file. One of an earlier format is rebuilt from its core.
func openFrozen(t *testing.T, path string) *Reader {
	t.Helper()
	r, err := Open(path)
	if errors.Is(err, ErrIndex) {
		rebuilt := filepath.Join(t.TempDir(), "rebuilt.seg")
		core, failed := OpenCore(path)
		if failed != nil {
			t.Fatal(failed)
		}
		_, failed = Create(t.Context(), rebuilt, core.Fields(), core.Records(t.Context()), Options{})
		if err := errors.Join(failed, core.Close()); err != nil {
			t.Fatal(err)
		}
		r, err = Open(rebuilt)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFrozen lists the files written by earlier programs.
func TestFrozen(t *testing.T) {
	t.Parallel()
	results := slices.Clone(frozenResults)
	for _, c := range frozenResults { // files of all formats have the same records
		_, name, _ := strings.Cut(c.file, "/")
		for _, earlier := range []string{"v2/", "v3/", "v4/"} {
			c.file = earlier + name
			results = append(results, c)
		}
		if slices.Contains([]string{"three.seg", "many.seg", "long.seg"}, name) {
			c.file = "v1/" + name
			results = append(results, c)
		}
	}
	for _, c := range results {
		t.Run(c.file+"?"+c.query, func(t *testing.T) {
			t.Parallel()
			r := openFrozen(t, filepath.Join("testdata", c.file))
			defer r.Release()
			if err := r.Verify(); err != nil {
				t.Fatal(err)
			}
			q, err := query.Parse(c.query, r.Fields())
			if err != nil {
				t.Fatal(err)
			}
			page, err := r.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			var values []string
			for _, b := range page.Records {
				var record map[string]string
				if err := json.Unmarshal(b, &record); err != nil {
					t.Fatal(err)
				}
				values = append(values, record[c.field])
			}
			if page.Total != c.total || !slices.Equal(values, c.values) {
				t.Errorf("%d records, %q; want %d, %q", page.Total, values, c.total, c.values)
			}
		})
	}
}

package segmenttest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// generator generates datasets and queries, determined by its seed. Its vocabulary is small, so
// that values collide.
type generator struct {
	*rand.Rand
	plants bool
	words  []string // of texts and searches
	zones  []string // of datetimes
	skew   float64  // 1 if all words are equally frequent; the greater, the more frequent are the first of them
}

// fewZones returns the zones of datetimes of which few have one: the same instants are written with
// and without it.
func fewZones() []string { return append(slices.Repeat([]string{""}, 20), "Z") }

// newGenerator returns a generator. Every second dataset uses only a few words, so that most
// searches match and term frequencies differ.
func newGenerator(seed uint64, plants bool) *generator {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), plants: plants, words: vocabulary, skew: 1}
	g.zones = pick(g, [][]string{{"", "", "Z", "+01:00", "-0530"}, {""}, fewZones()})
	if g.chance(50) {
		g.words = nil
		for range 2 + g.IntN(5) {
			g.words = append(g.words, pick(g, vocabulary))
		}
	}
	return g
}

// addRareWords adds words to the vocabulary, of which most are rare and many begin like another.
func (g *generator) addRareWords() {
	g.skew = pick(g, []float64{3, 5, 10})
	g.words = slices.Clone(g.words)
	for i := range pick(g, []int{100, 5000}) {
		g.words = append(g.words, pick(g, vocabulary)+strconv.Itoa(i))
	}
}

func (g *generator) word() string {
	return g.words[int(math.Pow(g.Float64(), g.skew)*float64(len(g.words)))]
}

// chance returns true with a probability of n percent.
func (g *generator) chance(n int) bool { return g.IntN(100) < n }

func pick[T any](g *generator, choices []T) T { return choices[g.IntN(len(choices))] }

// vocabulary is the words of texts and searches. Each resembles another with which it must, or must
// not, be confused.
var vocabulary = []string{
	"rose", "Rose", "ROSES", "rosé", "rosemary", "rosemary's", "fern", "Ferns", "Rosen", "l’élève", "élèves", "eleve",
	"a", "b", "ab",
	"Ångström", "angstrom", "A\u030angstro\u0308m", "Straße", "STRASSE", "strasse", "İstanbul", "ISTANBUL", "ısırgan",
	"Çelik", "naïve", "nai\u0308ve", "Øre", "Łódź", "ΣΊΣΥΦΟΣ", "σίσυφος", "ёлка", "елка",
	"植物園", "植物", "園", "バラ", "ﾊﾞﾗ", "ハラ", "か\u3099", "が", "か", "हिन्दी", "ไทย", "한국어", "שלום", `צה"ל`,
	"🌹", "👩‍🌾", "👩", "👍🏽", "🇹🇷", "❤️", "AB-12/7", "AB", "12", "7", "12.7", "3,14", "00042", "1e5", "don't", "don’t",
	"x_y", "x_", "x__y", "_",
	"so\u00ADft", "ﬁg", "№5", "*", "\"", "-",
}

// Common separators are repeated: most texts are words separated by spaces.
var separators = []string{" ", " ", " ", " ", " ", " ", "  ", "-", ", ", ",", "/", ". ", "", "\u00A0", "\u200B", " & "}

// join returns a number of words with random separators.
func (g *generator) join(n int, separators []string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(pick(g, separators))
		}
		b.WriteString(g.word())
	}
	return b.String()
}

func (g *generator) phrase(most int) string { return g.join(g.IntN(most+1), separators) }

var numbers = []string{
	"0", "-0", "0.0", "1", "1.0", "-1", "1.5", "1.50", "-1.5", "-1.05", "2", "10", "9", "25", "25.0", "99", "100",
	"0.1", "0.10", "-0.1", "0.01",
	"9007199254740992", "9007199254740993", "9007199254740993.0", "-9007199254740993", "9223372036854775807",
	"9223372036854775808",
	"123456789012345678901234567890", "123456789012345678901234567891", "123456789012345678901234567890.5",
	"0.000000000000000000000000000001", "0.000000000000000000000000000002", "-123456789012345678901234567890",
}

func (g *generator) number() string {
	switch g.IntN(5) {
	case 0:
		return strconv.Itoa(g.IntN(40) - 20)
	case 1:
		return fmt.Sprintf("%d.%d", g.IntN(5)-2, g.IntN(30))
	case 2:
		return strconv.Itoa(g.IntN(1_000_000))
	default:
		return pick(g, numbers)
	}
}

func (g *generator) date() string {
	if g.chance(10) {
		return pick(g, []string{"0000-02-29", "0001-01-01", "9999-12-31", "1900-02-28", "2000-02-29"})
	}
	return fmt.Sprintf("%04d-%02d-%02d", 2023+g.IntN(2), 1+g.IntN(12), 1+g.IntN(28))
}

func (g *generator) list(n herb.Notation) string {
	if n.JSON && !g.chance(5) {
		return g.array()
	}
	list := g.join(g.IntN(5), []string{",", ", ", ", ", " ,", ",,"})
	if list != "" && g.chance(3) {
		return ", " + list + " ,"
	}
	return list
}

// array returns a list as a JSON array. Elements may have commas and characters that are escaped.
func (g *generator) array() string {
	elements := make([]any, g.IntN(4))
	for i := range elements {
		elements[i] = pick(g, []any{g.word(), g.word(), g.phrase(2), g.word() + ", " + g.word(), g.word() + "\n" +
			g.word(), `"` + g.word() + `\`, " ", "", nil, 12.5, true})
	}
	b, err := json.Marshal(elements)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// column returns a function that returns the value of a field in a record. Some columns have only a
// few values, in random order or in the order of the records, and some numbers are skewed.
func (g *generator) column(f herb.Field, records int) func(record int) string {
	blank, inOrder, few := pick(g, []int{0, 10, 10, 50, 100}), g.chance(50),
		make([]string, pick(g, []int{0, 0, 0, 1, 2, 10}))
	for i := range few {
		few[i] = g.value(f)
	}
	skewed := f.Type == herb.TypeNumber && g.chance(15)
	return func(record int) string {
		switch {
		case g.chance(blank):
			return g.missing(f)
		case skewed: // positive, most of them small
			return g.writeNumber(f.Notation, strconv.Itoa(1+g.IntN(1+g.IntN(1<<g.IntN(24)))))
		case len(few) == 0:
			return g.value(f)
		case inOrder:
			return few[record*len(few)/records]
		default:
			return pick(g, few)
		}
	}
}

func (g *generator) missing(f herb.Field) string {
	if f.Type.IsScalar() && g.chance(50) {
		return pick(g, append([]string{" "}, f.Notation.Missing...))
	}
	return ""
}

// value returns a value that is valid for the field. It may be missing.
func (g *generator) value(f herb.Field) string {
	switch f.Type {
	case herb.TypeNumber:
		return g.writeNumber(f.Notation, g.number())
	case herb.TypeDate:
		return g.writeDate(f.Notation.DateFormat, g.date(), 0)
	case herb.TypeDateTime:
		return g.datetime(f.Notation)
	case herb.TypeTime:
		return g.clock()
	case herb.TypeDuration:
		return g.duration()
	case herb.TypeBoolean:
		return g.boolean(f.Notation)
	case herb.TypeList:
		return g.list(f.Notation)
	}
	switch {
	case g.chance(40): // one of few values, to cause ties
		return g.word()
	case g.IntN(400) == 0:
		return strings.Repeat(g.phrase(20)+" ", 200)
	case g.chance(5):
		return g.phrase(4) + pick(g, []string{"\n", "\t", "\x00", "\x1f", " "}) + g.phrase(4)
	default:
		return g.phrase(6)
	}
}

// Some of the names require an operator in a query.
var names = []string{
	"id", "title", "price", "tags", "a", "a[b]", "a[eq]", "page", "search", "x y", "été", "名前", "n=1&m", "<b>", `q"\`,
}

func (g *generator) fields() []herb.Field {
	if g.plants {
		return herb.PlantFields()
	}
	fields := make([]herb.Field, 1+g.IntN(6))
	order, types := g.Perm(len(names)), herb.Types()
	if g.skew > 1 { // there are rare words to search for
		types = append(types, herb.TypeText, herb.TypeText, herb.TypeText)
	}
	for i := range fields {
		t := pick(g, types)
		fields[i] = herb.Field{
			Name:       names[order[i]],
			Type:       t,
			Searchable: g.chance(60),
			Filterable: g.chance(90),
			Sortable:   g.chance(90),
			Notation:   g.notation(t),
		}
		if g.chance(30) {
			fields[i].Weight = 1 + g.IntN(herb.MaxWeight)
		}
	}
	return fields
}

// addCategories gives some texts and numbers categories with labels, which need not include all
// values. Its choices do not depend on those of the generator, and change none of them.
func (g generator) addCategories(seed uint64, fields []herb.Field, records []herb.Record) {
	g.Rand = rand.New(rand.NewPCG(seed, 1))
	for i := range fields {
		f := &fields[i]
		if g.plants || f.Type != herb.TypeText && f.Type != herb.TypeNumber || len(records) == 0 || !g.chance(30) {
			continue
		}
		known := map[string]bool{}
		for range 1 + g.IntN(8) {
			value := pick(&g, records)[i]
			key := text.CategoryKey(f, value)
			if _, missing := missingPosition(*f, value); !missing && !known[key] {
				known[key] = true
				f.Categories = append(f.Categories, herb.Category{Value: value, Label: g.phrase(3)})
			}
		}
	}
}

// size returns a small number of records.
func (g *generator) size() int {
	if g.chance(15) {
		return g.IntN(3)
	}
	return g.IntN(61)
}

func (g *generator) records(fields []herb.Field, size int) []herb.Record {
	if g.plants {
		return g.plantRecords(size)
	}
	columns := make([]func(int) string, len(fields))
	for i, f := range fields {
		columns[i] = g.column(f, size)
	}
	records := make([]herb.Record, size)
	for n := range records {
		if n > 0 && g.chance(10) { // a duplicate
			records[n] = records[g.IntN(n)]
			continue
		}
		rec := make(herb.Record, len(fields))
		for i, column := range columns {
			rec[i] = column(n)
		}
		records[n] = rec
	}
	return records
}

// plantRecords returns n plants: unique ids, names with a visible character, no control characters,
// at most 255 characters.
func (g *generator) plantRecords(n int) []herb.Record {
	records := make([]herb.Record, n)
	fields, seen := herb.PlantFields(), map[int64]bool{}
	name, tag := g.column(fields[1], n), g.column(fields[2], n)
	for n := range records {
		id := g.Int64N(200) - 50
		switch {
		case g.chance(10):
			id = pick(g, []int64{1<<63 - 1, -1 << 63, 1 << 53, 1<<53 + 1, -1<<53 - 1})
		case len(records) > 100 || g.chance(20):
			id = int64(g.Uint64())
		}
		for seen[id] {
			id++
		}
		seen[id] = true
		visible := cmp.Or(strings.TrimSpace(printable(name(n))), "rose")
		records[n] = herb.Record{strconv.FormatInt(id, 10), truncate(visible, 255), truncate(printable(tag(n)), 255)}
	}
	return records
}

// printable replaces control characters by blanks.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// truncate returns at most n characters of a text.
func truncate(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

// Package gen generates the benchmark data: records of a catalogue, the same bytes for the same seed.
package gen

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
)

// Header is the first line of a file.
const Header = "id,title,description,category,status,date,url,image,price,author,tags\n"

// Fields returns the fields of the records as inferred from a file.
func Fields() []herb.Field {
	var fields []herb.Field
	for name := range strings.SplitSeq(strings.TrimSpace(Header), ",") {
		f := herb.Field{Name: name, Type: herb.TypeText, Searchable: true, Filterable: true, Sortable: true}
		switch name {
		case "id", "price":
			f.Type, f.Searchable = herb.TypeNumber, false
		case "date":
			f.Type, f.Searchable = herb.TypeDate, false
		case "url", "image":
			f.Searchable = false
		case "tags":
			f.Type = herb.TypeList
		}
		fields = append(fields, f)
	}
	return fields
}

const (
	authors    = 5000
	firstNames = 100
	tags       = 200
)

// Generator generates records. It is immutable and safe for concurrent use.
type Generator struct {
	seed       uint64
	words      []string
	capitals   []string // the same words with a capital letter
	word       weighted
	categories []string
	category   weighted
	authors    []string
	tags       []string
	dates      []string
}

// New returns a generator. Generators of one seed make the same records.
func New(seed uint64) *Generator {
	l := newLexicon()
	g := &Generator{
		seed:  seed,
		words: l.vocabulary(),
		word:  newWeighted(wordWeights()),
		categories: []string{
			"perennial", "shrub", "tree", "annual", "bulb", "climber", "fern", "grass", "succulent", "herb", "aquatic", "orchid",
		},
	}
	for _, w := range g.words {
		g.capitals = append(g.capitals, capital(w))
	}
	weights := make([]uint64, len(g.categories))
	for i := range weights {
		weights[i] = 1 << 20 / uint64(i+1)
	}
	g.category = newWeighted(weights)
	g.authors = makeAuthors(l)
	for range tags {
		g.tags = append(g.tags, l.word(2))
	}
	for day := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2025; day = day.AddDate(0, 0, 1) {
		g.dates = append(g.dates, day.Format(time.DateOnly))
	}
	return g
}

// makeAuthors pairs first names with last names, some with accents, to exercise collation.
func makeAuthors(l *lexicon) []string {
	first := make([]string, firstNames)
	for i := range first {
		first[i] = capital(l.word(2))
	}
	accents := strings.NewReplacer("e", "é", "o", "ö", "a", "å")
	var out []string
	for i := range authors / firstNames {
		last := l.word(2 + i%2)
		if i%5 == 0 {
			last = last[:1] + accents.Replace(last[1:])
		}
		for _, f := range first {
			out = append(out, f+" "+capital(last))
		}
	}
	r := l.rng
	for i := range out { // so that the frequent authors do not share a name
		k := i + r.below(len(out)-i)
		out[i], out[k] = out[k], out[i]
	}
	return slices.Clip(out)
}

// WriteCSV writes the header and n records.
func (g *Generator) WriteCSV(ctx context.Context, w io.Writer, n int) error {
	buf := bufio.NewWriterSize(w, 1<<20)
	if _, err := buf.WriteString(Header); err != nil {
		return err
	}
	var line []byte
	for i := range n {
		if i%10_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line = g.AppendRecord(line[:0], i)
		if _, err := buf.Write(line); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// AppendRecord appends record i, counted from 0, as a line of CSV. A record depends on the seed and its number alone, so
// that a small file is the beginning of a large one.
func (g *Generator) AppendRecord(b []byte, i int) []byte {
	mixed := rng(g.seed ^ uint64(i)*0xD1342543DE82EF95)
	r := rng(mixed.next())
	id := int64(i) + 1
	b = strconv.AppendInt(b, id, 10)
	b = append(b, ',')
	b, slug1, slug2 := g.appendTitle(b, &r)
	b = append(b, ',', '"')
	b = g.appendDescription(b, &r)
	b = append(b, '"', ',')
	b = append(b, g.categories[g.category.draw(&r)]...)
	b = append(b, ',')
	b = append(b, status(r.below(100))...)
	b = append(b, ',')
	b = append(b, g.dates[r.below(len(g.dates))]...)
	b = append(b, ",https://www.herbarium.example/items/"...)
	b = append(b, g.words[slug1]...)
	b = append(b, '-')
	b = append(b, g.words[slug2]...)
	b = append(b, '-')
	b = strconv.AppendInt(b, id, 10)
	b = append(b, ",https://images.herbarium.example/"...)
	b = strconv.AppendInt(b, id%1000, 10)
	b = append(b, '/')
	b = strconv.AppendInt(b, id, 10)
	b = append(b, ".jpg,"...)
	b = appendPrice(b, 50+r.skewed(50_000))
	b = append(b, ',')
	b = append(b, g.authors[r.skewed(authors)]...)
	b = append(b, ',', '"')
	b = g.appendTags(b, &r)
	return append(b, '"', '\n')
}

func status(percent int) string {
	switch {
	case percent < 95:
		return "published"
	case percent < 98:
		return "draft"
	default:
		return "archived"
	}
}

// appendTitle writes 3 to 8 words and returns which are the first two.
func (g *Generator) appendTitle(b []byte, r *rng) (out []byte, first, second int) {
	first, second = g.word.draw(r), g.word.draw(r)
	b = append(b, g.capitals[first]...)
	b = append(b, ' ')
	b = append(b, g.words[second]...)
	for range 1 + r.below(6) {
		b = append(b, ' ')
		b = append(b, g.words[g.word.draw(r)]...)
	}
	return b, first, second
}

// appendDescription writes 15 to 30 words in sentences.
func (g *Generator) appendDescription(b []byte, r *rng) []byte {
	begins := true
	words := 15 + r.below(16)
	for left := words; left > 0; left-- {
		w := g.word.draw(r)
		switch {
		case begins:
			b = append(b, g.capitals[w]...)
		default:
			b = append(b, g.words[w]...)
		}
		begins = false
		if left == 1 {
			break
		}
		switch r.below(12) {
		case 0:
			b = append(b, '.')
			begins = true
		case 1:
			b = append(b, ',')
		}
		b = append(b, ' ')
	}
	return append(b, '.')
}

func appendPrice(b []byte, cents int) []byte {
	b = strconv.AppendInt(b, int64(cents/100), 10)
	return append(b, '.', byte('0'+cents/10%10), byte('0'+cents%10))
}

// appendTags writes 1 to 4 different tags.
func (g *Generator) appendTags(b []byte, r *rng) []byte {
	var used [4]int
	for i := range 1 + r.below(4) {
		t := r.skewed(tags)
		for slices.Contains(used[:i], t) {
			t = (t + 1) % tags
		}
		used[i] = t
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, g.tags[t]...)
	}
	return b
}

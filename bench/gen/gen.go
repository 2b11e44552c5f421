// Package gen generates the benchmark data: records of a catalogue, the same bytes for the same
// seed.
package gen

import (
	"bufio"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"herbarium/internal/filesystem"
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
	l := &lexicon{rng: 2024, seen: map[string]bool{}} // the same for every seed, so that queries can contain the words
	g := &Generator{
		seed:  seed,
		words: l.vocabulary(),
		word:  newWeighted(wordWeights()),
		categories: []string{
			"perennial", "shrub", "tree", "annual", "bulb", "climber", "fern", "grass", "succulent", "herb",
			"aquatic", "orchid",
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
	_, _ = buf.WriteString(Header) // Flush returns the first error
	var line []byte
	for i := range n {
		if i%10_000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line = g.AppendRecord(line[:0], i)
		_, _ = buf.Write(line)
	}
	return buf.Flush()
}

// AppendRecord appends record i, counted from 0, as a line of CSV. A record depends on the seed and
// its number alone, so that a small file is the beginning of a large one.
func (g *Generator) AppendRecord(b []byte, i int) []byte {
	mixed := rng(g.seed ^ uint64(i)*0xD1342543DE82EF95)
	r := rng(mixed.next())
	id := i + 1
	first, second := g.word.draw(&r), g.word.draw(&r)
	b = fmt.Appendf(b, "%d,%s %s", id, g.capitals[first], g.words[second])
	for range 1 + r.below(6) {
		b = append(append(b, ' '), g.words[g.word.draw(&r)]...)
	}
	b = g.appendDescription(append(b, `,"`...), &r)
	status := "published"
	category, percent := g.category.draw(&r), r.below(100)
	switch {
	case percent >= 98:
		status = "archived"
	case percent >= 95:
		status = "draft"
	}
	b = fmt.Appendf(b, `",%s,%s,%s,https://www.herbarium.example/items/%s-%s-%d,https://images.herbarium.example/%d/%d.jpg`,
		g.categories[category], status, g.dates[r.below(len(g.dates))], g.words[first], g.words[second], id,
		id%1000, id)
	cents := 50 + r.skewed(50_000)
	b = fmt.Appendf(b, `,%d.%02d,%s,"`, cents/100, cents%100, g.authors[r.skewed(authors)])
	return append(g.appendTags(b, &r), "\"\n"...)
}

// appendDescription writes 15 to 30 words in sentences.
func (g *Generator) appendDescription(b []byte, r *rng) []byte {
	words := g.capitals // of the next word
	for left := 15 + r.below(16); left > 1; left-- {
		b = append(b, words[g.word.draw(r)]...)
		words = g.words
		switch r.below(12) {
		case 0:
			b = append(b, '.')
			words = g.capitals
		case 1:
			b = append(b, ',')
		}
		b = append(b, ' ')
	}
	return append(append(b, words[g.word.draw(r)]...), '.')
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

// File returns the path of a file of n records in a folder, and writes it unless it exists. Its
// name contains the seed, the number, and a fingerprint of the generator.
func File(ctx context.Context, dir string, seed uint64, n int) (path string, err error) {
	g := New(seed)
	sum := crc32.NewIEEE()
	if err := g.WriteCSV(ctx, sum, 1000); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fmt.Sprintf("items-%d-%d-%08x.csv", seed, n, sum.Sum32()))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return path, filesystem.WriteFile(filesystem.OS{}, path+".part", path, 0o644,
		func(w io.Writer) error { return g.WriteCSV(ctx, w, n) })
}

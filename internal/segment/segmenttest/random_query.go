package segmenttest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// query returns a valid raw query for the fields. Most of its values are from the records.
func (g *generator) query(fields []herb.Field, records []herb.Record) string {
	for {
		raw := g.anyQuery(fields, records)
		if _, err := query.Parse(raw, fields); err == nil {
			return raw
		}
	}
}

func (g *generator) anyQuery(fields []herb.Field, records []herb.Record) string {
	var params []string
	add := func(name, value string) {
		params = append(params, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	filterable := indexes(fields, func(f herb.Field) bool { return f.Filterable })
	sortable := indexes(fields, func(f herb.Field) bool { return f.Sortable })
	searchable := indexes(fields, func(f herb.Field) bool { return f.Searchable })
	// ranks among some of the records
	if len(filterable) > 0 && len(searchable) > 0 && len(records) > 0 && g.chance(10) {
		i := pick(g, filterable)
		add(query.FilterParam(fields[i].Name, query.OpNe), g.sample(fields[i], i, records))
		add(query.ParamSearch, g.wordsOf(pick(g, records), searchable))
		return strings.Join(params, "&")
	}
	if len(filterable) > 0 {
		for range pick(g, []int{0, 0, 0, 1, 1, 1, 2, 3, 6}) {
			i := pick(g, filterable)
			add(g.condition(fields[i], func() string { return g.sample(fields[i], i, records) }))
		}
	}
	if g.chance(30) {
		for _, group := range g.groups(params, fields) {
			add(query.ParamAny, group)
		}
	}
	if len(searchable) > 0 {
		for range pick(g, []int{0, 0, 0, 1, 1, 2}) {
			i := pick(g, searchable)
			words := searchable // of any field
			if g.chance(70) {
				words = []int{i}
			}
			add(query.FilterParam(fields[i].Name, query.OpMatch), g.search(words, records))
		}
	}
	if g.chance(45) {
		add(query.ParamSearch, g.search(searchable, records))
	}
	if g.chance(10) {
		add(query.ParamWords, query.WordsExact)
	}
	sort := ""
	if len(sortable) > 0 && g.chance(60) {
		sort = g.sort(fields, sortable)
		add(query.ParamSort, sort)
	}
	if herb.FieldIndex(fields, sort) >= 0 && g.chance(60) {
		add(query.ParamOrder, pick(g, []string{"asc", "desc", "desc", ""}))
	}
	if g.chance(60) {
		add(query.ParamPerPage, strconv.Itoa(pick(g, []int{1, 2, 3, 5, 7, 10, 100, 1000})))
	}
	if g.chance(50) {
		add(query.ParamPage, strconv.Itoa(pick(g, []int{1, 2, 2, 3, 4, 20, query.MaxPage})))
	}
	g.Shuffle(len(params), func(i, j int) { params[i], params[j] = params[j], params[i] })
	return strings.Join(params, "&")
}

// groups returns up to two groups of the fields that parameters filter.
func (g *generator) groups(params []string, fields []herb.Field) (groups []string) {
	var names []string
	for _, p := range params {
		name, _, _ := strings.Cut(p, "=")
		name, _ = url.QueryUnescape(name)
		if i, _, ok := query.ResolveFilter(name, fields); ok && !slices.Contains(names, fields[i].Name) {
			names = append(names, fields[i].Name)
		}
	}
	for len(names) > 1 && len(groups) < 2 {
		n := 2 + g.IntN(min(2, len(names)-1))
		groups, names = append(groups, strings.Join(names[:n], ",")), names[n:]
	}
	return groups
}

// indexes returns the positions of the fields that meet a condition.
func indexes(fields []herb.Field, meets func(herb.Field) bool) (found []int) {
	for i, f := range fields {
		if meets(f) {
			found = append(found, i)
		}
	}
	return found
}

// sort returns one sort field, or several with directions.
func (g *generator) sort(fields []herb.Field, sortable []int) string {
	if g.chance(50) {
		return fields[pick(g, sortable)].Name
	}
	var parts []string
	for _, i := range g.Perm(len(sortable))[:min(len(sortable), pick(g, []int{1, 2, 2, 3, 4}))] {
		parts = append(parts, pick(g, []string{"", "-"})+fields[sortable[i]].Name)
	}
	return strings.Join(parts, ",")
}

// sample returns a value to compare with: that of a record, or any other valid for the type. It may
// be empty.
func (g *generator) sample(f herb.Field, field int, records []herb.Record) string {
	switch {
	case g.chance(2):
		return g.missing(f)
	case len(records) == 0 || g.chance(15):
		return g.value(f)
	}
	value := pick(g, records)[field]
	if f.Type == herb.TypeList && !g.chance(10) {
		if elements := text.Elements(&f, value); len(elements) > 0 {
			value = pick(g, elements)
		}
	}
	if f.Type == herb.TypeNumber && f.Notation.Decimal == "" && text.IsNumber([]byte(value)) && g.chance(20) {
		if strings.Contains(value, ".") { // the same number in another notation
			return value + "0"
		}
		return value + ".0"
	}
	if f.Type == herb.TypeDate && g.chance(20) { // periods as their first day
		if p := parseValue(f, value); p.missing == 0 {
			return p.time.Format(time.DateOnly)
		}
	}
	if f.Type == herb.TypeDateTime && g.chance(30) {
		if p := parseValue(f, value); p.missing == 0 {
			return p.time.Format(time.DateOnly)
		}
	}
	return truncate(value, maxOperand)
}

// maxOperand is the maximum length of an operand, so that it does not fill the query string.
const maxOperand = 100

// condition returns a filter parameter on a field. It may be invalid for the type of the field.
func (g *generator) condition(f herb.Field, sample func() string) (name, value string) {
	op := pick(g, slices.DeleteFunc(query.Ops(), func(o query.Op) bool { return o == query.OpMatch }))
	if g.chance(30) {
		op = query.OpEq
	}
	value = sample()
	switch op {
	case query.OpEmpty:
		value = pick(g, []string{"true", "false"})
	case query.OpIn:
		values := []string{value}
		for range pick(g, []int{0, 1, 2, 3, 40}) {
			values = append(values, sample())
		}
		value = strings.Join(values, ",")
	case query.OpContains:
		value = g.part(value)
	case query.OpPrefix:
		if whole, _, ok := strings.Cut(value, "."); ok && f.Type == herb.TypeNumber {
			value = whole
		}
		value = value[:g.IntN(len(value)+1)]
		for !utf8.ValidString(value) {
			value = value[:len(value)-1]
		}
	}
	plain := !query.IsReserved(f.Name) && !strings.HasSuffix(f.Name, "]")
	if op == query.OpEq && plain && g.chance(70) {
		return f.Name, value
	}
	return f.Name + "[" + string(op) + "]", value
}

// wordsOf returns some words of a record.
func (g *generator) wordsOf(rec herb.Record, fields []int) string {
	var words []string
	for _, i := range fields {
		words = text.AppendWords(words, truncate(rec[i], maxOperand))
	}
	g.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words[:min(len(words), 1+g.IntN(3))], " ")
}

// search returns a full-text query, mostly of words that occur in some fields.
func (g *generator) search(fields []int, records []herb.Record) string {
	var words []string
	for range pick(g, []int{1, 1, 1, 3}) {
		if len(records) == 0 {
			break
		}
		rec := pick(g, records)
		for _, i := range fields {
			words = text.AppendWords(words, truncate(rec[i], maxOperand))
		}
	}
	if len(words) == 0 || g.chance(10) {
		words = g.words
	}
	var b strings.Builder
	for range pick(g, []int{0, 1, 1, 1, 1, 2, 2, 3, 8}) {
		if g.chance(15) {
			b.WriteByte('-')
		}
		start := g.IntN(len(words))
		word := words[start]
		switch g.IntN(7) {
		case 0: // a phrase that may occur in a record
			end := min(start+1+g.IntN(5), len(words))
			b.WriteString(`"` + strings.Join(words[start:end], " ") + `"`)
		case 1: // a prefix of a word
			r := []rune(word)
			b.WriteString(string(r[:1+g.IntN(len(r))]) + "*")
		case 2:
			b.WriteString(strings.ToUpper(word))
		case 3:
			b.WriteString(g.word())
		case 4: // a phrase of two parts that may occur apart
			end := min(start+1+g.IntN(3), len(words))
			b.WriteString(`"` + strings.Join(words[start:end], " ") + " " + pick(g, words) + `"`)
		default:
			b.WriteString(word)
		}
		b.WriteString(pick(g, []string{" ", " ", " ", "*", "-", `"`, "  "}))
	}
	return b.String()
}

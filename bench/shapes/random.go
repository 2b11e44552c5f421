package shapes

import (
	"encoding/csv"
	"math/rand/v2"
	"strings"

	"herbarium/bench/gen"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Random draws requests of all kinds: every operator, field, sort and form of search, at any depth,
// and facets. Their values are those of random records, so that frequent values are drawn
// frequently.
type Random struct {
	*rand.Rand
	generator *gen.Generator
	records   int
	fields    []herb.Field
}

// NewRandom returns requests for a number of generated records. The same seed gives the same
// requests.
func NewRandom(seed uint64, records int) *Random {
	return &Random{rand.New(rand.NewPCG(seed, 0)), gen.New(seed), records, gen.Fields()}
}

// description is the position of the field of long texts, in which contains is an error above some
// thousand values.
const description = 2

// Next returns the next request.
func (r *Random) Next() Shape {
	for {
		s := Shape{Depth: r.IntN(101), Facets: r.IntN(6) == 0}
		var params query.Params
		add := func(name, value string) { params = append(params, query.Param{Name: name, Value: value}) }
		for range r.IntN(4) {
			i := r.IntN(len(r.fields))
			op := pick(r, query.Ops())
			if op == query.OpContains && i == description {
				continue
			}
			add(query.FilterParam(r.fields[i].Name, op), r.operand(op, r.record()[i]))
		}
		if r.IntN(2) == 0 {
			add(query.ParamSearch, r.search())
		}
		if s.Facets {
			for range 1 + r.IntN(3) {
				add(query.ParamField, pick(r, r.fields).Name)
			}
		} else if r.IntN(2) == 0 {
			add(query.ParamSort, pick(r, r.fields).Name)
			add(query.ParamOrder, pick(r, []string{"asc", "desc"}))
		}
		s.Query = params.Encode()
		if r.valid(s) {
			return s
		}
	}
}

func (r *Random) valid(s Shape) (ok bool) {
	var err error
	if s.Facets {
		_, err = query.ParseFacets(s.Query, r.fields)
	} else {
		_, err = query.Parse(s.Query, r.fields)
	}
	return err == nil
}

func (r *Random) record() []string {
	line := string(r.generator.AppendRecord(nil, r.IntN(r.records)))
	values, err := csv.NewReader(strings.NewReader(line)).Read()
	if err != nil {
		panic(err) // the generator writes CSV
	}
	return values
}

// operand returns an operand for a value of a field.
func (r *Random) operand(op query.Op, value string) string {
	switch op {
	case query.OpEmpty:
		return pick(r, []string{"true", "false"})
	case query.OpMatch:
		return r.search()
	case query.OpPrefix:
		return value[:min(len(value), 1+r.IntN(10))]
	}
	element, _, _ := strings.Cut(value, ",") // of a list
	return element
}

// search returns one to eight clauses: words, prefixes, phrases and excluded words.
func (r *Random) search() string {
	var clauses []string
	for range 1 + r.IntN(1+r.IntN(8)) {
		words := strings.FieldsFunc(strings.ToLower(r.record()[description]),
			func(c rune) bool { return c < 'a' || c > 'z' })
		i := r.IntN(len(words) - 1)
		word := words[i]
		switch r.IntN(6) {
		case 0:
			word = word[:1+r.IntN(len(word))] + "*"
		case 1:
			word = word[:1] + "*"
		case 2:
			word = `"` + word + " " + words[i+1] + `"`
		case 3:
			word = "-" + word
		}
		clauses = append(clauses, word)
	}
	return strings.Join(clauses, " ")
}

func pick[T any](r *Random, choices []T) T { return choices[r.IntN(len(choices))] }

package web

import (
	"net/http"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// trier makes calls to try, out of the fields of a dataset and values that it has.
type trier struct {
	path    string
	dataset herb.Dataset
	fields  []herb.Field // of the dataset
	samples [][]string
}

func (t trier) try(ps ...pair) try {
	written := make([]string, len(ps))
	for i, p := range ps {
		written[i] = p.name + "=" + p.value
	}
	return try{clip(strings.Join(written, "&"), 80), t.path + "?" + params{{paramTry, "1"}}.with(ps...).encode() + "#try"}
}

// field returns the first field that meets a condition, with a value of it; ok is false without one.
func (t trier) field(meets func(herb.Field) bool) (f herb.Field, value string, ok bool) {
	best := -1
	for i, f := range t.fields {
		if !meets(f) || len(t.samples[i]) == 0 {
			continue
		}
		if best < 0 || t.telling(i) && !t.telling(best) {
			best = i
		}
	}
	if best < 0 {
		return herb.Field{}, "", false
	}
	return t.fields[best], t.samples[best][len(t.samples[best])/2], true
}

// telling reports whether calls with a field show something: several records share its values, or can be compared by them.
func (t trier) telling(i int) bool {
	f := t.fields[i]
	return modeOf(&t.dataset, i) == modeValues || query.HasRange(f.Type) && !isCode(f.Name)
}

// parameters documents what every listing takes.
func (t trier) parameters() []paramDoc {
	sortField, word := "", ""
	for i, f := range t.fields {
		if f.Sortable && (sortField == "" || f.Type != herb.TypeText && sortField == t.fields[0].Name) {
			sortField = f.Name
		}
		if f.Searchable && word == "" && len(t.samples[i]) > 0 {
			word, _, _ = strings.Cut(strings.TrimSpace(t.samples[i][0]), " ")
		}
	}
	docs := []paramDoc{
		{query.ParamPage, "a whole number from 1", "Which page. One past the end is empty and says so.", []try{t.try(pair{"page", "2"})}},
		{query.ParamPerPage, "1 to 100", "Records on a page, 25 unless said. More than 100 is served as 100.", []try{t.try(pair{"per_page", "3"})}},
	}
	if sortField != "" {
		docs = append(docs,
			paramDoc{query.ParamSort, "a sortable field", "Numbers sort as numbers, dates as dates, text as people sort it. Empty values come last.",
				[]try{t.try(pair{"sort", sortField}, pair{"per_page", "3"})}},
			paramDoc{query.ParamOrder, "asc or desc", "The direction of sort.",
				[]try{t.try(pair{"sort", sortField}, pair{"order", "desc"}, pair{"per_page", "3"})}})
	}
	if word != "" {
		tries := []try{t.try(pair{"search", word})}
		if runes := []rune(word); len(runes) > 3 {
			tries = append(tries, t.try(pair{"search", string(runes[:3]) + "*"}))
		}
		docs = append(docs, paramDoc{query.ParamSearch, "words", "All words must occur, in any searchable field, whatever their case and accents. " +
			"word* is a beginning, \"a phrase\" is consecutive words, -word must not occur.", tries})
	}
	if f, value, ok := t.field(func(f herb.Field) bool { return f.Filterable && f.Type == herb.TypeText && len(f.Name) > 0 }); ok {
		docs = append(docs, paramDoc{"<field>", "a value", "Records whose field has just this value; of a list, one of its elements. " +
			"Different fields must all fit, of a repeated one any value. An empty value finds empty ones.",
			[]try{t.try(pair{filterName(f.Name), value})}})
	}
	return append(docs, paramDoc{Name: query.ParamAPIKey, Takes: "a key", Text: "For clients that can set no header. Addresses are easily leaked: prefer a header."})
}

// operators documents the operators, each on a field that it suits.
func (t trier) operators() []paramDoc {
	filterable := func(types ...herb.Type) func(herb.Field) bool {
		return func(f herb.Field) bool {
			for _, ty := range types {
				if f.Filterable && f.Type == ty {
					return true
				}
			}
			return false
		}
	}
	text, ordered := filterable(herb.TypeText), filterable(herb.TypeNumber, herb.TypeDate)
	anything := func(f herb.Field) bool { return f.Filterable }
	docs := []struct {
		op    query.Op
		words string
		field func(herb.Field) bool
		value func(string) string
	}{
		{query.OpEq, "is; the same as no operator, and reaches fields that are named like a parameter", text, nil},
		{query.OpNe, "is not", text, nil},
		{query.OpGt, "greater than", ordered, nil},
		{query.OpGte, "at least", ordered, nil},
		{query.OpLt, "less than", ordered, nil},
		{query.OpLte, "at most", ordered, nil},
		{"in", "one of several, with commas between", ordered, nil},
		{query.OpPrefix, "begins with", text, func(s string) string { r := []rune(s); return string(r[:min(2, len(r))]) }},
		{"empty", "true: has no value; false: has one", anything, func(string) string { return "false" }},
	}
	var out []paramDoc
	for _, d := range docs {
		doc := paramDoc{Name: "[" + string(d.op) + "]", Text: d.words}
		f, value, ok := t.field(d.field)
		if !ok {
			f, value, ok = t.field(anything)
		}
		if ok && !(d.op == query.OpPrefix && f.Type == herb.TypeNumber) {
			if d.value != nil {
				value = d.value(value)
			}
			doc.Tries = []try{t.try(pair{withOperator(f.Name, d.op), value})}
		}
		out = append(out, doc)
	}
	return out
}

// errors documents how a call fails, in the very words of the API.
func (t trier) errors(d herb.Dataset) []errorDoc {
	var out []errorDoc
	wrong := func(when string, ps ...pair) {
		if _, err := query.Parse(params(ps).encode(), t.fields); err != nil {
			out = append(out, errorDoc{http.StatusBadRequest, when, clip(herb.MessageOf(err), 300), new(t.try(ps...))})
		}
	}
	wrong("a page that is none", pair{"page", "0"})
	for _, f := range t.fields {
		if f.Sortable {
			wrong("a field that is not there", pair{"sort", f.Name + "x"})
			break
		}
	}
	wrong("a parameter that is not there", pair{"colour of the sky", "blue"})
	for _, f := range t.fields {
		if f.Filterable && f.Type == herb.TypeNumber {
			wrong("a value that does not fit the field", pair{withOperator(f.Name, query.OpGte), "many"})
			break
		}
	}
	if d.Access == herb.AccessKey {
		out = append(out,
			errorDoc{Status: http.StatusUnauthorized, When: "no key, or one that is unknown, expired or revoked", Message: "there is no such key"},
			errorDoc{Status: http.StatusForbidden, When: "a key of another dataset", Message: "the key is valid but lacks the scope; it needs " + string(d.ReadScopes()[0])})
	}
	return append(out,
		errorDoc{Status: http.StatusNotFound, When: "a dataset that is not there", Message: "there is no dataset \"" + d.Namespace + "/nothing\""},
		errorDoc{Status: http.StatusServiceUnavailable, When: "too much to do; Retry-After says when to come back", Message: "too many requests at once; try again in 1 second"})
}

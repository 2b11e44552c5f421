package operations

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/query"
	"herbarium/internal/roles"
	"herbarium/internal/text"
)

// Limits of what is corrected of a request.
const (
	maxCorrectedWords  = 8   // looked up in the index
	maxCorrectedValues = 4   // of filters
	maxCategories      = 200 // values of a field that are compared with a value
	maxContaining      = 20  // values with corrected words that are compared with a value
	minTypo            = 4   // letters of a value that may have a typo; shorter ones are codes
	longTypo           = 6   // letters of a value for which one more edit is a typo
)

// corrector corrects the parameters of a request without records.
type corrector struct {
	ctx           context.Context
	view          *library.View
	forms         query.Words // words of the search that occur in other forms
	words, values int         // that may still be corrected
}

// correct returns a parameter of a request without typos, and adds what it corrects to corrections.
func (c *corrector) correct(req *query.Request, p query.Param, corrections map[string]string) (query.Param, error) {
	if p.Name == query.ParamSearch {
		var err error
		p.Value, err = c.correctWords(p.Value, true, corrections)
		return p, err
	}
	if !req.Selects(p.Name) {
		return p, nil
	}
	filter, start := p, ""
	if p.Name == query.ParamFilter {
		expanded, _ := query.ExpandFilter(p.Value, c.view.Fields)
		filter, start = expanded, strings.TrimSuffix(p.Value, expanded.Value)
	}
	field, op, ok := query.ResolveFilter(filter.Name, c.view.Fields)
	if !ok {
		return p, nil
	}
	value, err := c.correctFilter(field, op, filter.Value, corrections)
	p.Value = start + value
	return p, err
}

// correctFilter corrects the value of a filter.
func (c *corrector) correctFilter(field int, op query.Op, value string, corrections map[string]string) (string, error) {
	f := c.view.Fields[field]
	if f.Type != herb.TypeText && f.Type != herb.TypeList {
		return value, nil
	}
	switch op {
	case query.OpMatch:
		return c.correctWords(value, true, corrections)
	case query.OpContains, query.OpPrefix:
		if !f.Searchable || isCode(f, value) {
			return value, nil
		}
		return c.correctWords(value, false, corrections)
	case query.OpEq, query.OpIEq:
		return c.correctValue(field, value, corrections)
	case query.OpIn:
		values := strings.Split(value, ",")
		for i := range values {
			corrected, err := c.correctValue(field, values[i], corrections)
			if err != nil {
				return value, err
			}
			if !strings.Contains(corrected, ",") {
				values[i] = corrected
			}
		}
		return strings.Join(values, ","), nil
	}
	return value, nil
}

// correctValue returns the value of a field that a value without records may mean: one that differs
// in case or accents, or else in a few letters. Otherwise it returns the value itself.
func (c *corrector) correctValue(field int, value string, corrections map[string]string) (string, error) {
	f := c.view.Fields[field]
	if strings.TrimSpace(value) == "" || len(value) > query.MaxFacetValue || c.values == 0 {
		return value, nil
	}
	c.values--
	equal, err := c.valuesOf(field, query.OpIEq, value, query.MaxTop)
	if err != nil {
		return value, err
	}
	key, corrected := text.PrimaryKey(value), ""
	for _, other := range equal {
		if other == value {
			return value, nil
		}
		if corrected == "" && text.PrimaryKey(other) == key {
			corrected = other
		}
	}
	if corrected == "" && !isCode(f, value) {
		corrected, err = c.nearestValue(field, value)
	}
	if corrected == "" || err != nil {
		return value, err
	}
	corrections[value] = corrected
	return corrected, nil
}

// nearestValue returns the value of a field with the fewest edits, of several the most frequent
// one; empty if none is near.
func (c *corrector) nearestValue(field int, value string) (nearest string, err error) {
	f := c.view.Fields[field]
	limit := 1 + utf8.RuneCountInString(value)/longTypo
	var candidates []string
	if c.hasCategories(field) {
		candidates, err = c.valuesOf(field, "", "", maxCategories)
	} else if f.Searchable {
		var words string
		words, err = c.correctWords(value, false, map[string]string{})
		if err == nil {
			candidates, err = c.valuesOf(field, query.OpContains, words, maxContaining)
		}
		limit = len(value) // the candidates share the words
	}
	for _, other := range candidates {
		distance, isTypo := text.TypoDistance(value, other)
		if isTypo && distance <= limit && !hasDigit(other) {
			nearest, limit = other, distance-1
		}
	}
	return nearest, err
}

// hasCategories reports whether a field has so few values that all of them are compared.
func (c *corrector) hasCategories(field int) bool {
	r := c.view.Report
	return c.view.Fields[field].Type == herb.TypeList || r == nil || len(r.Columns) != len(c.view.Fields) ||
		r.Columns[field].Distinct <= maxCategories
}

// valuesOf returns the most frequent values of a field in the records that a filter selects, which
// contain the value of the filter. Without an operator, these are all records. It returns none if
// the values are too many or too long to be searched.
func (c *corrector) valuesOf(field int, op query.Op, value string, most int) (values []string, err error) {
	var filter query.Params
	if op != "" {
		filter = query.Params{{Name: query.FilterParam(c.view.Fields[field].Name, op), Value: value}}
	}
	req, err := query.Of(filter).Listing(c.view.Fields, herb.Order{})
	if err != nil {
		return nil, nil // such as a field that is not filterable
	}
	found, release, err := Facets(c.ctx, c.view, &query.FacetRequest{Request: req, Fields: []int{field}, Top: most,
		Containing: value})
	if herb.CodeOf(err) == herb.CodeInvalid {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer release()
	for _, v := range found.Fields[0].Values {
		if !v.Clipped {
			values = append(values, v.Value)
		}
	}
	return values, nil
}

// correctWords corrects the words of a text, which may be a search with prefixes and excluded
// words. What is correct stays as it is written.
func (c *corrector) correctWords(value string, isSearch bool, corrections map[string]string) (string, error) {
	chunks := strings.Fields(value)
	isChanged := false
	for i, chunk := range chunks {
		if isSearch && strings.HasPrefix(chunk, "-") {
			continue
		}
		words := text.AppendWords(nil, chunk)
		stem, isPrefix := strings.CutSuffix(chunk, "*")
		isPrefix = isPrefix && isSearch && text.EndsInWord(stem) || !isSearch && i == len(chunks)-1
		before := slices.Clone(words)
		for k, word := range words {
			if isSearch && c.forms[word] != nil {
				continue
			}
			nearest, err := c.nearestWord(word, isPrefix && k == len(words)-1)
			if err != nil {
				return value, err
			}
			if nearest != "" {
				words[k], corrections[word] = nearest, nearest
			}
		}
		if slices.Equal(words, before) {
			continue
		}
		isChanged = true
		chunks[i] = strings.Join(words, " ")
		if isSearch { // a phrase of several chunks stays one
			if strings.HasPrefix(chunk, `"`) {
				chunks[i] = `"` + chunks[i]
			}
			if strings.HasSuffix(strings.TrimSuffix(chunk, "*"), `"`) {
				chunks[i] += `"`
			}
		}
	}
	if !isChanged {
		return value, nil
	}
	return strings.Join(chunks, " "), nil
}

// nearestWord returns the word of the searchable fields that a word without records may be a typo
// of; empty if there is none.
func (c *corrector) nearestWord(word string, isPrefix bool) (string, error) {
	if c.view.Reader == nil || c.words == 0 {
		return "", nil
	}
	c.words--
	return c.view.Reader.NearestWord(c.ctx, word, isPrefix)
}

// isCode reports whether one value of a field is not a typo of another: it has a digit, is as short
// as a code, or the field has codes.
func isCode(f herb.Field, value string) bool {
	return hasDigit(value) || utf8.RuneCountInString(value) < minTypo || roles.Of(f.Name).IsCode()
}

func hasDigit(value string) bool { return strings.ContainsFunc(value, unicode.IsDigit) }

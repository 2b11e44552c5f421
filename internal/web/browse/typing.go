package browse

import (
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// wholeSearch returns a search without the "*" with which the page completes the last word while a
// visitor types, if that word has other forms which do not begin with it: roses* would not find
// rose. It is empty otherwise, and for a search that is invalid.
func wholeSearch(listing query.Params, v datasetView) (string, error) {
	typed := strings.TrimSuffix(listing.Get(query.ParamSearch), "*")
	if typed == "" {
		return "", nil
	}
	rest := listing.Without(query.ParamSearch)
	words := func(search string) (query.Words, error) {
		req, err := selectRows(rest.WithValue(query.ParamSearch, search), v.Fields)
		if err == nil {
			return v.View.Words(req)
		}
		return nil, err
	}
	before, err := words(typed + "*")
	var whole query.Words
	if err == nil {
		whole, err = words(typed)
	}
	if err != nil && herb.CodeOf(err) != herb.CodeInvalid {
		return "", err
	}
	for word, forms := range whole {
		isOther := func(form string) bool { return !strings.HasPrefix(form, word) }
		if before[word] == nil && slices.ContainsFunc(forms, isOther) {
			return typed, nil
		}
	}
	return "", nil
}

package operations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi/operations"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/query"
	"herbarium/internal/segment/segmenttest"
)

// TestMatches checks which values have matches, that the search for them is paced, and that its
// memory is released, also if the caller stops early.
func TestMatches(t *testing.T) {
	t.Parallel()
	fields := []herb.Field{{Name: "title", Type: herb.TypeText, Searchable: true},
		{Name: "text", Type: herb.TypeText, Searchable: true}, {Name: "hidden", Type: herb.TypeText}}
	long := strings.Repeat("tree ", 20_000)
	v := &library.View{Dataset: herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Fields: fields},
		Engine: segmenttest.NewOracle(fields, []herb.Record{
			{"rose", "a rose", "rose"}, {"tulip", long + "rose", ""}, {"Rosé", "rose " + long, ""}})}
	find := func(pacer *segmenttest.Pacer, params string, most int) (got []string, err error) {
		req, err := query.Split(params).Listing(v.Fields, herb.Order{})
		must.NoError(t, err)
		ctx := query.WithPacer(t.Context(), pacer)
		found, err := operations.List(ctx, v, req)
		must.NoError(t, err)
		defer found.Release()
		for matches, err := range found.Matches(ctx, v) {
			if err != nil {
				return got, err
			}
			var names []string
			for _, m := range matches {
				names = append(names, fmt.Sprintf("%s %d", m.Field, len(m.Parts)))
			}
			got = append(got, strings.Join(names, ", "))
			if len(got) == most {
				break
			}
		}
		return got, nil
	}
	const all = 10
	for params, want := range map[string]string{
		"search=rose":                     "title 2, text 2|title 2, text 3|",
		"search=rose&_fields=text,title":  "text 2, title 2|text 3, title 2|",
		"search=rose&_fields=hidden":      "||",
		"search=rose&_fields=text,hidden": "text 2|text 3|",
	} {
		got, err := find(&segmenttest.Pacer{}, params, all)
		if strings.Join(got, "|") != want || err != nil { // by relevance
			t.Errorf("%s: %q, %v; want %q", params, got, err, want)
		}
	}
	var pacer segmenttest.Pacer
	for _, most := range []int{1, all} {
		_, err := find(&pacer, "search=rose", most)
		must.NoError(t, err)
		if pacer.Held != 0 || pacer.Peak < 64<<10 {
			t.Errorf("holds %d bytes, at most %d", pacer.Held, pacer.Peak)
		}
	}
	if pacer.Steps < 2*64<<10 || pacer.Most > 128<<10 {
		t.Errorf("%d steps, up to %d at once", pacer.Steps, pacer.Most)
	}
	stopped := errors.New("stopped")
	if _, err := find(&segmenttest.Pacer{Full: stopped}, "search=rose", all); !errors.Is(err, stopped) {
		t.Errorf("without memory: %v", err)
	}
	if _, err := find(&segmenttest.Pacer{Err: stopped}, "search=rose", all); !errors.Is(err, stopped) {
		t.Errorf("when the pacer stops it: %v", err)
	}
}

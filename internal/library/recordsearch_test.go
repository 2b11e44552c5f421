package library_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/listtest"
)

// numberedDatasets has datasets with one record each. The later ones were published later.
type numberedDatasets int

func (n numberedDatasets) Live(context.Context) (live []herb.LiveVersion, err error) {
	for i := range int(n) {
		live = append(live, herb.LiveVersion{Ref: herb.Ref{Namespace: "many", Name: fmt.Sprint("d", i)}, Published: time.Unix(int64(i), 0)})
	}
	return live, nil
}

func (n numberedDatasets) Acquire(_ context.Context, ref herb.Ref) (library.View, error) {
	fields := []herb.Field{{Name: "a", Type: herb.TypeText, Searchable: true}}
	return library.View{
		Dataset: herb.Dataset{Ref: ref, Title: "Title of " + ref.Name, Fields: fields},
		Source:  listtest.NewOracle(fields, []herb.Record{{"common " + ref.Name}}),
	}, nil
}

// TestSearchRecords_limits searches more datasets than one search may.
func TestSearchRecords_limits(t *testing.T) {
	t.Parallel()
	opts := library.SearchOptions{Budget: time.Hour}
	found, err := library.SearchRecords(t.Context(), numberedDatasets(250), "common", opts)
	if err != nil || found.Total != 200 || found.Searched != 200 || len(found.Datasets) != 200 || !found.Partial {
		t.Errorf("of 250 datasets: %d records of %d, partial %t, %v", found.Total, found.Searched, found.Partial, err)
	}
	for search, want := range map[string]string{"d249": "Title of d249", "d0": ""} { // the most recent ones are searched
		found, err := library.SearchRecords(t.Context(), numberedDatasets(250), search, opts)
		title := ""
		if len(found.Datasets) > 0 {
			title = found.Datasets[0].Title
		}
		if err != nil || title != want {
			t.Errorf("%s finds %q, %v", search, title, err)
		}
	}
	found, err = library.SearchRecords(t.Context(), numberedDatasets(3), "common", library.SearchOptions{Budget: 1})
	if err != nil || found.Searched != 0 || !found.Partial {
		t.Errorf("without time: %+v, %v", found, err)
	}
	if found, err = library.SearchRecords(t.Context(), numberedDatasets(3), "common", opts); err != nil || found.Total != 3 || found.Partial {
		t.Errorf("of 3 datasets: %+v, %v", found, err)
	}
}

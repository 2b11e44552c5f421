package webtest_test

import (
	"testing"

	"herbarium/internal/must"
)

// TestReadme visits every view of the dataset that the README serves. The tab reports console
// errors, missing images and requests to other hosts.
func TestReadme(t *testing.T) {
	t.Parallel()
	l := &library{}
	t.Cleanup(l.stop)
	must.NoError(t, l.open(t.Context()))
	must.NoError(t, l.publishFolder(t.Context(), example))
	must.NoError(t, l.data.Library.Refresh(t.Context()))
	b := open(t, l.serve(t, nil), tabOptions{Width: 1440})
	for _, path := range []string{"/", catalog, catalog + "?search=rose", catalog + "?_record=1", catalog + "/about",
		catalog + "/api", catalog + "/versions"} {
		if status := b.Visit(path); status != 200 {
			t.Errorf("%s gives %d", path, status)
		}
		b.settled()
		b.Until(`[...document.images].filter((i) => { if (!i.checkVisibility()) return false; const r = i.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth; })
			.every((i) => i.complete)`)
		if broken := b.Texts(".gone"); len(broken) > 0 {
			t.Errorf("%s has %d broken images", path, len(broken))
		}
	}
	b.Visit(catalog)
	b.settled()
	if b.Count("#grid td img") == 0 {
		t.Error("the table shows no images")
	}
	if b.Count("h1") != 1 || b.Text("h1") == "catalog" {
		t.Errorf("the dataset has no title: %q", b.Texts("h1"))
	}
}

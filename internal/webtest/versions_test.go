package webtest_test

import (
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// olderVersion returns the version of the catalogue before the live one.
func (s *site) olderVersion(t testing.TB) string {
	t.Helper()
	versions, err := s.data.Versions.History(t.Context(), herb.Ref{Namespace: "garden", Name: "catalog"})
	if err != nil || len(versions) < 2 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	return versions[1].Version
}

// TestOlderVersion checks that the page of an earlier version stays in it while one searches and
// filters.
func TestOlderVersion(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(catalog + "/versions")
		b.follow(b.Pick(".versions li:not(.live) a", "Show rows"))
		b.Until("location.pathname === " + quote(catalog))
		b.settled()
		if got := b.Text(".older"); !strings.HasPrefix(got, "Version 1 of 2, published ") {
			b.Errorf("the banner is %q", got)
		}
		if l := b.agree(); l.Meta.Total != 397 { // of 400 lines
			b.Errorf("the version has %d rows, want 397", l.Meta.Total)
		}
		b.follow("#grid th[data-field=price] .col-name")
		if script {
			b.next(func() { b.Fill("#search", "rose") })
			b.Click("#grid th[data-field=category] .proportion.r1")
			b.Until("document.querySelector('.chip')")
			b.settled()
		}
		if l := b.agree(); b.query().Get("_version") != b.olderVersion(b) || script &&
			(l.Meta.Total == 0 || l.Meta.Total >= 397) {
			b.Errorf("%d rows at %v", l.Meta.Total, b.query())
		}
		b.follow(".older a")
		if l := b.agree(); b.query().Has("_version") || b.Count(".older") != 0 || !script && l.Meta.Total <= 397 {
			b.Errorf("the newest version: %d rows at %v", l.Meta.Total, b.query())
		}
	})
}

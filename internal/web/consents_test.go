package web_test

import (
	"net/url"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// changeRequiring returns a change that requires a consent.
func changeRequiring(t *testing.T, consent herb.Consent) versions.Change {
	t.Helper()
	for _, kind := range []versions.ChangeKind{versions.FieldRemoved, versions.ExpectationFailed,
		versions.RowsExposed} {
		for _, isExposure := range []bool{false, true} {
			c := versions.Change{Kind: kind, Breaking: true, Exposure: isExposure, Message: "message of " +
				string(kind)}
			if c.Consent() == consent {
				return c
			}
		}
	}
	t.Fatalf("no change requires %s", consent)
	return versions.Change{}
}

// TestReview_consents shows reviews with a change for each consent: each has a checkbox, and the
// draft is published with all of them only.
func TestReview_consents(t *testing.T) {
	t.Parallel()
	var changes []versions.Change
	for _, c := range herb.Consents() {
		changes = append(changes, changeRequiring(t, c))
	}
	newReview := func() *publishingSite {
		s := newPublishingSite(t)
		s.review = func() *review.Review { r := *s.review; r.Changes = changes; return &r }()
		return s
	}
	s := newReview()
	values := map[string]string{} // of checkboxes, by their labels
	for _, label := range all(parse(t, s.get(t, draftPath, as(sellsKey)...).body), tag("label", "consent")) {
		values[words(label)] = attr(all(label, tag("input", ""))[0], "value")
	}
	labels := map[herb.Consent]string{}
	for _, c := range herb.Consents() {
		labels[c] = c.Text().Label
		if labels[c] == "" {
			labels[c] = "Publish 1 " + c.Text().Changes[0]
		}
		if values[labels[c]] == "" {
			t.Errorf("there is no checkbox %q for %s: %v", labels[c], c, values)
		}
	}
	if len(values) != len(changes) {
		t.Errorf("the checkboxes are %v", values)
	}
	form := func(except herb.Consent) url.Values {
		v := url.Values{"live": {"v1"}}
		for c, label := range labels {
			if c != except {
				v.Add("consent", values[label])
			}
		}
		return v
	}
	for _, c := range herb.Consents() {
		s := newReview()
		if a := s.post(t, draftPath+"/publish", form(c), as(sellsKey)...); a.status != 409 ||
			!strings.Contains(a.body, c.Text().Refusal) || len(s.published) > 0 {
			t.Errorf("without %s: %d, published %v", c, a.status, s.published)
		}
	}
	a := s.post(t, draftPath+"/publish", form(""), as(sellsKey)...)
	if a.status != 303 || len(s.published) != 1 {
		t.Fatalf("with all consents: %d, published %v", a.status, s.published)
	}
	for _, c := range herb.Consents() {
		if !strings.Contains(s.published[0], string(c)) {
			t.Errorf("published with %s, want %s", s.published[0], c)
		}
	}
}

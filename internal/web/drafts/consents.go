package drafts

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
)

// consentGroup is the changes of a review that require the same consent, which has a checkbox.
type consentGroup struct {
	Consent herb.Consent
	Changes []versions.Change
	Count   string // number of changes, in words
	List    string // see herb.ConsentText
	Label   string // of the checkbox
	// of the checkbox: it identifies the consent and the changes, so that no others are published
	// by accident
	Value string
}

// paramConsent is the name of the checkboxes.
const paramConsent = "consent"

// groupByConsent returns the changes that require a consent in the order of the page: lists first.
func groupByConsent(r *review.Review) []consentGroup {
	var lists, others []consentGroup
	for _, c := range versions.RequiredConsents(r.Changes) {
		if g := newConsentGroup(r, c); g.List != "" {
			lists = append(lists, g)
		} else {
			others = append(others, g)
		}
	}
	return append(lists, others...)
}

func newConsentGroup(r *review.Review, consent herb.Consent) consentGroup {
	text := consent.Text()
	g := consentGroup{Consent: consent, List: text.List}
	sum := sha256.New()
	for _, c := range r.Changes {
		if c.Consent() == consent {
			g.Changes = append(g.Changes, c)
			fmt.Fprintln(sum, consent, c.Kind, c.Field, c.Message)
		}
	}
	g.Value = hex.EncodeToString(sum.Sum(nil)[:8])
	g.Count = herb.Plural(len(g.Changes), text.Changes[0], text.Changes[1])
	g.Label = cmp.Or(text.Label, "Publish "+g.Count)
	return g
}

// givenConsents returns the consents that a review requires and a form gives. The error is about
// the first one that the form does not give.
func givenConsents(r *review.Review, form url.Values) (given []herb.Consent, err error) {
	for _, g := range groupByConsent(r) {
		if !slices.Contains(form[paramConsent], g.Value) {
			return nil, herb.Errorf(herb.CodeRejected, "nothing was published: %s", g.Consent.Text().Refusal)
		}
		given = append(given, g.Consent)
	}
	return given, nil
}

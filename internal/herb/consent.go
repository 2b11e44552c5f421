package herb

import (
	"errors"
	"slices"
	"strings"
)

// Consent is what a publisher states to publish a version that would be rejected. None implies
// another.
type Consent string

// The consents. Which one a change of a dataset requires is decided by package versions.
const (
	ConsentBreaking     Consent = "allow_breaking"            // consumers of the live version may fail
	ConsentExposure     Consent = "allow_exposure"            // something becomes public that the live version hides
	ConsentExpectations Consent = "allow_failed_expectations" // an expectation of the publisher fails
)

// ConsentText is how a consent is presented to publishers.
type ConsentText struct {
	Help    string    // what is accepted, to follow a verb such as "publish"
	Changes [2]string // what the changes that require it are called: one, and several
	Label   string    // of the checkbox; empty: "Publish" with the number of changes
	// List is the heading of the list of these changes in a review, which has the checkbox. Empty:
	// each change has a heading of its own, and the checkbox is beside the button.
	List    string
	Refusal string // why a draft is not published without the consent, and what to do
}

// consents returns all consents with their texts.
func consents() []consentRow {
	return []consentRow{
		{ConsentBreaking, ConsentText{
			Help:    "despite breaking changes",
			Changes: [2]string{"breaking change", "breaking changes"},
			Refusal: "it would break programs that use the dataset; correct the breaking changes, or select the " +
				"checkbox beside the button",
		}},
		{ConsentExposure, ConsentText{
			Help:    "although something becomes public that the live version hides",
			Changes: [2]string{"change makes hidden data public", "changes make hidden data public"},
			Label:   "Make this public",
			List:    "Becomes public",
			Refusal: "something would become public that the live version hides; hide it, or select the checkbox " +
				"below the list of what becomes public",
		}},
		{ConsentExpectations, ConsentText{
			Help:    "although an expectation fails",
			Changes: [2]string{"failed expectation", "failed expectations"},
			Refusal: "an expectation fails; correct the file, or select the checkbox beside the button",
		}},
	}
}

type consentRow struct {
	consent Consent
	text    ConsentText
}

// Consents returns all consents.
func Consents() (all []Consent) {
	for _, row := range consents() {
		all = append(all, row.consent)
	}
	return all
}

// Text returns how the consent is presented.
func (c Consent) Text() ConsentText {
	rows := consents()
	return rows[slices.IndexFunc(rows, func(row consentRow) bool { return row.consent == c })].text
}

// Flag returns the consent as a flag of the command line.
func (c Consent) Flag() string { return "--" + strings.ReplaceAll(string(c), "_", "-") }

// Parameter returns the name of the consent as a parameter of the API.
func (c Consent) Parameter() string { return "_" + string(c) }

// Query returns the parameter of the API that states the consent.
func (c Consent) Query() string { return c.Parameter() + "=true" }

// ConsentsOf returns the consents of the outermost Error in err's chain.
func ConsentsOf(err error) []Consent {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Consents
	}
	return nil
}

// Advice says how to state consents in the words of an interface, to follow a message; empty if
// there are none.
func Advice(consents []Consent, word func(Consent) string) string {
	if len(consents) == 0 {
		return ""
	}
	words := make([]string, len(consents))
	for i, c := range consents {
		words[i] = word(c)
	}
	return "\n  correct it or, if this is intended, use " + strings.Join(words, " and ")
}

package herb

import (
	"slices"
	"strings"
	"time"
)

// Webhook is an endpoint of another program that receives events about datasets.
type Webhook struct {
	ID        string    `json:"id"`
	URL       Address   `json:"url"`
	Secret    Secret    `json:"-"`        // signs the events
	Datasets  []string  `json:"datasets"` // patterns, as of ParsePattern
	Protected bool      `json:"protected"`
	Private   bool      `json:"allow_private"` // its address may be one that is not public
	Created   time.Time `json:"created"`
	Disabled  time.Time `json:"disabled,omitzero"` // zero if it is enabled
}

// Principal returns the webhook as a client that reads datasets: unless Protected is set, it sees
// what everybody sees.
func (w Webhook) Principal() Principal {
	p := Principal{ID: w.ID}
	if w.Protected {
		p.Scopes = []Scope{ScopeDataRead}
	}
	return p
}

// Matches reports whether a dataset is one of those whose events the webhook receives.
func (w Webhook) Matches(ref Ref) bool {
	return ref.Matches(w.Datasets...)
}

// Matches reports whether one of several patterns of datasets matches the dataset.
func (r Ref) Matches(patterns ...string) bool {
	return slices.Contains(patterns, r.String()) || slices.Contains(patterns, r.Namespace+"/*") ||
		slices.Contains(patterns, AllDatasets)
}

// AllDatasets is the pattern that every dataset matches.
const AllDatasets = "*"

// ParsePattern checks a pattern of datasets: namespace/dataset, namespace/* or AllDatasets.
func ParsePattern(s string) (string, error) {
	if s == AllDatasets || isPattern(s) {
		return s, nil
	}
	return "", Invalidf("%q does not name datasets; write namespace/dataset, namespace/* or *", s)
}

// isPattern reports whether a text is namespace/dataset or namespace/*.
func isPattern(s string) bool {
	namespace, name, ok := strings.Cut(s, "/")
	return ok && ValidName(namespace) && (name == "*" || ValidName(name))
}

package versions

import (
	"time"

	"herbarium/internal/herb"
)

// Result is what a publish has done or, if it was only checked, would do. It is one type from here
// to the client: Publish describes the version, package publish adds unchanged sources,
// publish.Publish has it, and the API and publish --json print it. After an error, it is as
// complete as possible.
type Result struct {
	Dataset string `json:"dataset"`
	Status  Status `json:"status"`
	Error   string `json:"error,omitempty"`
	Records int    `json:"records"`
	// the live version; empty if it was only checked, rejected or failed
	Version    string       `json:"version,omitempty"`
	Published  time.Time    `json:"published_at,omitzero"`
	Replaces   string       `json:"replaces,omitempty"` // the version that was live; empty if there was none
	Fields     []herb.Field `json:"fields,omitempty"`
	PrimaryKey []string     `json:"primary_key,omitempty"`
	// nobody has declared the primary key
	InferredKey bool     `json:"primary_key_inferred,omitempty"`
	Changes     []Change `json:"changes,omitempty"` // relative to Replaces, and problems of the new version
	// with the records of Replaces; nil if there are none or they cannot be read
	Compared *herb.RecordChanges `json:"compared,omitempty"`
	Report   *herb.Report        `json:"report,omitempty"`
	Requires []herb.Consent      `json:"requires,omitempty"` // consents with which it would not be rejected
	// RolledBack is the version that was built from the same content and settings and rolled back;
	// empty if there is none. Only servers that publish their own files ask for it.
	RolledBack string `json:"-"`
}

// Status is the result of a publish in one word.
type Status string

// The statuses.
const (
	StatusPublished Status = "published"
	// the live version, or RolledBack, was built from the same content and settings
	StatusUnchanged Status = "unchanged"
	StatusChecked   Status = "checked"
	StatusRejected  Status = "rejected"
	StatusFailed    Status = "failed"
)

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{StatusPublished, StatusUnchanged, StatusChecked, StatusRejected, StatusFailed}
}

// NewResult returns a result that describes a version.
func NewResult(status Status, d herb.Dataset) Result {
	return Result{
		Dataset: d.Ref.String(), Status: status, Records: d.Records, Version: d.Version, Published: d.Published,
		Fields: d.Fields, PrimaryKey: d.PrimaryKey, InferredKey: d.InferredKey, Report: d.Report,
	}
}

// Fail completes the result of a publish that ended with an error. Every package that changes the
// error calls it.
func (r *Result) Fail(ref herb.Ref, err error) {
	r.Dataset, r.Status, r.Error, r.Requires = ref.String(), StatusFailed, herb.MessageOf(err), herb.ConsentsOf(err)
	r.Version, r.Published = "", time.Time{} // nothing went live
	if herb.CodeOf(err) == herb.CodeRejected {
		r.Status = StatusRejected
	}
	if r.Status == StatusFailed && r.Report != nil && r.Report.Cells == "" { // it ended before the listing was read
		r.Report = nil
	}
}

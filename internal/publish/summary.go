package publish

import (
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
)

// Status is the result of a publish in one word.
type Status string

// The statuses.
const (
	StatusPublished Status = "published"
	StatusUnchanged Status = "unchanged"
	StatusChecked   Status = "checked"
	StatusRejected  Status = "rejected"
	StatusFailed    Status = "failed"
)

// Statuses lists all statuses.
func Statuses() []Status {
	return []Status{StatusPublished, StatusUnchanged, StatusChecked, StatusRejected, StatusFailed}
}

// StatusOf returns the status of a publish that has ended, or was only checked.
func StatusOf(r Result, failure error, check bool) Status {
	switch {
	case failure != nil && herb.CodeOf(failure) == herb.CodeRejected:
		return StatusRejected
	case failure != nil:
		return StatusFailed
	case r.Unchanged:
		return StatusUnchanged
	case check:
		return StatusChecked
	}
	return StatusPublished
}

// Summary is the result of a publish in JSON: the output of publish --json and the body of a
// response.
type Summary struct {
	Dataset    string            `json:"dataset"`
	Status     Status            `json:"status"`
	Error      string            `json:"error,omitempty"`
	Records    int               `json:"records"`
	Version    string            `json:"version,omitempty"`
	Published  time.Time         `json:"published_at,omitzero"`
	Replaces   string            `json:"replaces,omitempty"` // the version that was live
	Fields     []herb.Field      `json:"fields,omitempty"`
	PrimaryKey []string          `json:"primary_key,omitempty"`
	Changes    []versions.Change `json:"changes,omitempty"`
	Report     *herb.Report      `json:"report,omitempty"`
	Requires   []herb.Consent    `json:"requires,omitempty"` // consents with which it would not be rejected
}

// NewSummary returns the summary of a publish that has ended, or was only checked.
func NewSummary(ref herb.Ref, r Result, failure error, check bool) Summary {
	s := Summary{
		Dataset: ref.String(), Status: StatusOf(r, failure, check), Records: r.Dataset.Records, Version: r.Dataset.Version,
		Published: r.Dataset.Published, Replaces: r.Replaces, Fields: r.Dataset.Fields, PrimaryKey: r.Dataset.PrimaryKey, Changes: r.Changes, Report: r.Dataset.Report,
	}
	if failure != nil {
		s.Error, s.Requires = failure.Error(), herb.ConsentsOf(failure)
	}
	if s.Version == "" { // nothing was published
		s.Published = time.Time{}
	}
	if s.Status == StatusFailed && s.Report != nil && s.Report.Cells == "" { // it ended before the listing was read
		s.Report = nil
	}
	return s
}

// VersionReport is the import report of a version in JSON, as the API returns it.
type VersionReport struct {
	Dataset    string       `json:"dataset"`
	Version    string       `json:"version"`
	Published  time.Time    `json:"published_at,omitzero"`
	Records    int          `json:"records"`
	PrimaryKey []string     `json:"primary_key,omitempty"`
	Report     *herb.Report `json:"report"`
}

// NewVersionReport returns the report of a version, which has one.
func NewVersionReport(d herb.Dataset) VersionReport {
	return VersionReport{d.Ref.String(), d.Version, d.Published, d.Records, d.PrimaryKey, d.Report}
}

// State is how far a publish over HTTP is.
type State string

// The states, in order. The last four are final.
const (
	StateReceived  State = "received"
	StateReading   State = "reading"
	StateBuilding  State = "building"
	StateVerifying State = "verifying"
	StateLive      State = "live" // also if it was live before
	StateChecked   State = "checked"
	StateRejected  State = "rejected"
	StateFailed    State = "failed"
)

// StateOf returns the state in which a phase is.
func StateOf(phase string) State {
	switch phase {
	case phaseRead, phaseInfer:
		return StateReading
	case versions.PhaseChecking, versions.PhaseUploading:
		return StateVerifying
	}
	return StateBuilding
}

// State returns the final state of a publish.
func (s Summary) State() State {
	switch s.Status {
	case StatusRejected:
		return StateRejected
	case StatusFailed:
		return StateFailed
	case StatusChecked:
		return StateChecked
	}
	return StateLive
}

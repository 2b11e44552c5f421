package publish

import (
	"encoding/json"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/store"
	"herbarium/internal/versions"
)

// Publish is a publish of a received file, as the API and the pages show it and as the database
// keeps it: which file of which dataset, how far it is, and how it has ended.
type Publish struct {
	ID       string             `json:"id"`
	Dataset  string             `json:"dataset"`
	State    State              `json:"state"`
	Check    bool               `json:"check,omitempty"` // nothing goes live
	Created  time.Time          `json:"created_at"`
	Updated  time.Time          `json:"updated_at"`
	Bytes    int64              `json:"bytes"`
	SHA256   string             `json:"sha256"` // of the file
	Progress *progress.Progress `json:"progress,omitempty"`
	Code     herb.Code          `json:"code,omitempty"`   // of the error; empty if there is none
	Result   *versions.Result   `json:"result,omitempty"` // nil until the publish has ended
}

// Retention is how long a publish is kept in the database.
const Retention = 24 * time.Hour

// Ref returns the dataset.
func (p Publish) Ref() herb.Ref {
	ref, _ := herb.ParseRef(p.Dataset) // it was checked before
	return ref
}

// State is how far a publish is.
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

// stateOf returns the state in which a phase is.
func stateOf(phase string) State {
	switch phase {
	case phaseRead, phaseInfer:
		return StateReading
	case versions.PhaseChecking, versions.PhaseUploading:
		return StateVerifying
	}
	return StateBuilding
}

// finalState returns the state of a publish that has ended with a status.
func finalState(status versions.Status) State {
	switch status {
	case versions.StatusRejected:
		return StateRejected
	case versions.StatusFailed:
		return StateFailed
	case versions.StatusChecked:
		return StateChecked
	}
	return StateLive
}

// storedPublish is a publish with who has sent the file, for the audit log.
type storedPublish struct {
	Publish
	Actor herb.Actor `json:"actor,omitzero"`
}

func decodeStored(stored store.Publish) (p storedPublish, err error) {
	err = json.Unmarshal(stored.Content, &p)
	return p, err
}

func (p storedPublish) encode(now time.Time) store.Publish {
	content, _ := json.Marshal(p) // it has no values that cannot be encoded
	return store.Publish{ID: p.ID, Running: p.Result == nil, Updated: now, Content: content}
}

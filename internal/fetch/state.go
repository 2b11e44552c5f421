package fetch

import (
	"encoding/json"
	"fmt"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// State is what is known about the file of a dataset that is fetched.
type State struct {
	herb.FetchSource
	Checked  time.Time `json:"checked_at,omitzero"` // the source answered, and its file is published
	Changed  time.Time `json:"changed_at,omitzero"` // its file was published
	Next     time.Time `json:"next_at,omitzero"`    // zero: it is fetched on request only
	Failing  time.Time `json:"failing_since,omitzero"`
	Unsent   time.Time `json:"unreachable_since,omitzero"` // since then, the source has sent no file
	Failures int       `json:"failures,omitempty"`         // since Failing
	Error    string    `json:"error,omitempty"`            // of the last fetch
	Running  bool      `json:"running,omitempty"`
}

// unreachable is how long fetches must fail before readers are told.
const unreachable = 7 * 24 * time.Hour

// Unreachable returns since when the source has sent no file if readers should know it; else the
// zero time. A source whose files are rejected can be reached.
func (s State) Unreachable(now time.Time) time.Time {
	if !s.Unsent.IsZero() && now.Sub(s.Unsent) >= unreachable {
		return s.Unsent
	}
	return time.Time{}
}

// storedState is the content of a stored fetch.
type storedState struct {
	State
	Known    validators `json:"known"`
	Rejected string     `json:"rejected,omitempty"` // hash of the last rejected file, and the live version
	Reason   string     `json:"reason,omitempty"`   // why it was rejected
}

// decodeState returns the state of a stored fetch at a time.
func decodeState(f store.Fetch, now time.Time) (s storedState, err error) {
	if len(f.Content) > 0 {
		if err := json.Unmarshal(f.Content, &s); err != nil {
			return s, fmt.Errorf("decode the state of fetches of %s: %w", f.Ref, err)
		}
	}
	s.Address, s.Next, s.Running = f.Address, f.Due, f.Claimed.After(now)
	return s, nil
}

// encode returns the content of a stored fetch.
func (s storedState) encode() []byte {
	s.Next, s.Running = time.Time{}, false // they are stored beside it
	content, _ := json.Marshal(s)          // it has no values that cannot be encoded
	return content
}

// maxError is the maximum number of characters of a stored error.
const maxError = 2000

const (
	// firstPause is the pause after a fetch that failed; it doubles with each one up to maxPause.
	firstPause = time.Minute
	maxPause   = 24 * time.Hour
)

// pauseAfter returns the pause after failures in a row, at least as long as the source asks for.
func pauseAfter(failures int, atLeast time.Duration) time.Duration {
	pause := maxPause
	if failures < 12 { // later ones are longer than maxPause
		pause = min(firstPause<<max(failures-1, 0), maxPause)
	}
	return max(pause, atLeast)
}

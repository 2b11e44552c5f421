package publish

import "herbarium/internal/versions"

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

// FinalState returns the state of a publish that has ended with a status.
func FinalState(status versions.Status) State {
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

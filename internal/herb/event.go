package herb

// EventType is the kind of an event, as webhooks name it.
type EventType string

// Event types.
const (
	EventPublished  EventType = "dataset.published"
	EventRolledBack EventType = "dataset.rolled_back"
	EventRejected   EventType = "dataset.rejected" // a publish was rejected; the live version stays
	// a publish failed, as that of a file that cannot be read; the live version stays
	EventFailed  EventType = "dataset.failed"
	EventRemoved EventType = "dataset.removed"
	EventOverdue EventType = "dataset.overdue" // of the live version; see Freshness
	EventTest    EventType = "webhook.test"    // sent on request
)

// Event is a change of a dataset, or a rejected one.
type Event struct {
	ID       string // empty: a random one
	Type     EventType
	Ref      Ref
	Version  EventVersion // that went live; zero if none did
	Previous EventVersion // that was live before; zero if none was
	Message  string       // of Version
	Counts   *EventCounts // of Version against Previous; nil: they are unknown
}

// EventVersion is a version that an event names.
type EventVersion struct {
	Name   string
	Access Access // empty if it is unknown
}

// EventCounts counts the records in which two versions differ.
type EventCounts struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
	Changed int `json:"changed"`
}

// NewEventCounts returns the counts of a comparison; nil for nil.
func NewEventCounts(c *RecordChanges) *EventCounts {
	if c == nil {
		return nil
	}
	return &EventCounts{c.Added, c.Removed, c.Changed}
}

// Reverse returns the counts of the earlier version against the later one.
func (c *EventCounts) Reverse() *EventCounts {
	if c == nil {
		return nil
	}
	return &EventCounts{c.Removed, c.Added, c.Changed}
}

// EventData is what a client may see of an event.
type EventData struct {
	Dataset  string       `json:"dataset"`
	Version  string       `json:"version,omitempty"`
	Previous string       `json:"previous_version,omitempty"`
	Message  string       `json:"message,omitempty"`
	Counts   *EventCounts `json:"counts,omitempty"`
}

// SeeEvent returns what the principal may see of an event; false means nothing. Principal.See
// decides it for each of the versions that the event is about.
func (p Principal) SeeEvent(e Event) (EventData, bool) {
	sees := func(v EventVersion) bool {
		return p.See(Dataset{Ref: e.Ref, Access: v.Access}).Report
	}
	data := EventData{Dataset: e.Ref.String(), Version: e.Version.Name, Message: e.Message}
	if e.Version.Name == "" {
		data.Previous = e.Previous.Name
		return data, sees(e.Previous)
	}
	if e.Previous.Name != "" && sees(e.Previous) {
		data.Previous, data.Counts = e.Previous.Name, e.Counts
	}
	return data, sees(e.Version)
}

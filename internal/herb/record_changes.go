package herb

// RecordChanges counts how the records of a version differ from those of an earlier one.
type RecordChanges struct {
	Since       string `json:"since"`                  // the earlier version
	SinceAccess Access `json:"since_access,omitempty"` // of the earlier version; empty if it is unknown
	// fields that identify records; none: they have no identity, and none has changed
	Key       []string      `json:"key,omitempty"`
	Added     int           `json:"added"`
	Removed   int           `json:"removed"`
	Changed   int           `json:"changed"`
	Unchanged int           `json:"unchanged"`
	Fields    []FieldChange `json:"fields,omitempty"` // of the changed records, in field order
}

// FieldChange counts the records in which a field changed.
type FieldChange struct {
	Field   string `json:"field"`
	Records int    `json:"records"`
}

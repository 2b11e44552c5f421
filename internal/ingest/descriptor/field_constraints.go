package descriptor

// Constraints are the conditions that a Table Schema sets for the values of a field. A missing
// value meets all of them but Required. Values are as written in the descriptor.
type Constraints struct {
	Required         bool     `json:",omitempty"`
	Minimum          string   `json:",omitempty"` // empty: none, as with the other bounds
	Maximum          string   `json:",omitempty"`
	ExclusiveMinimum string   `json:",omitempty"`
	ExclusiveMaximum string   `json:",omitempty"`
	MinLength        int      `json:",omitempty"` // characters, or elements of a list
	MaxLength        *int     `json:",omitempty"`
	Pattern          string   `json:",omitempty"` // a regular expression for the whole value
	Enum             []string `json:",omitempty"`
}

package herb

// Reading overrides how a file is read, as written in flags or parameters. Empty members are
// detected.
type Reading struct {
	Format    string `json:"format,omitempty"`
	Table     string `json:"table,omitempty"` // sheet, table or file of an archive, or file#sheet
	Delimiter string `json:"delimiter,omitempty"`
	Widths    string `json:"widths,omitempty"` // of columns, with commas between them
	Encoding  string `json:"encoding,omitempty"`
	Header    string `json:"header,omitempty"`  // number of a line, or none
	Comment   string `json:"comment,omitempty"` // prefix
	Skip      string `json:"skip,omitempty"`    // number of lines
}

// ReadingNames returns the names of the members of a Reading, which are those of flags and
// parameters.
func ReadingNames() []string {
	return []string{"format", "table", "delimiter", "widths", "encoding", "header", "comment", "skip"}
}

// Member returns the member of a Reading that has one of its names.
func (r *Reading) Member(name string) *string {
	return map[string]*string{
		"format": &r.Format, "table": &r.Table, "delimiter": &r.Delimiter, "widths": &r.Widths,
		"encoding": &r.Encoding, "header": &r.Header, "comment": &r.Comment, "skip": &r.Skip,
	}[name]
}

// Merge returns a Reading whose members are those of given, or else those of r. A delimiter and
// widths exclude each other.
func (r Reading) Merge(given Reading) Reading {
	if given.Widths != "" || given.Delimiter != "" {
		r.Widths, r.Delimiter = "", ""
	}
	for _, name := range ReadingNames() {
		value := *given.Member(name)
		if value != "" {
			*r.Member(name) = value
		}
	}
	return r
}

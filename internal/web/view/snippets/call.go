// Package snippets writes programs that read a view: its API call in several languages, and its
// rows as a table for spreadsheets, notebooks and databases. The programs are templates in the
// folder programs. Text from a dataset or a URL enters a program only as a literal of its language.
// Programs read a key from the environment, or ask for it, so that copies of them can be shared.
package snippets

// Snippet is a program, or what to enter into one.
type Snippet struct {
	Name string // of the language or the tool
	Note string // where to enter it; empty: it is obvious
	Code string
}

// Call is an API call that returns JSON.
type Call struct {
	URL    string
	Locked bool // it requires a key
	Rows   Rows
}

// Rows is what the member data of a response contains.
type Rows string

const (
	Records Rows = "records"
	Counts  Rows = "counts"  // column, row and number of records of a grid
	Groups  Rows = "groups"  // of an aggregate
	Changes Rows = "changes" // between two versions
)

// Lists reports whether a response has a page of what its total counts.
func (c Call) Lists() bool { return c.Rows != Counts && c.Rows != Groups }

// Calls returns programs that make a call.
func Calls(c Call) []Snippet {
	return []Snippet{
		{Name: "curl", Code: program("curl", c)},
		{Name: "JavaScript", Code: program("javascript", c)},
		{Name: "Python", Code: program("python", c)},
		{Name: "Go", Code: program("go", c)},
		{Name: "R", Code: program("r", c)},
	}
}

package ingest

// oldDialect is how a file lays out its records, as far as its format leaves that open. The zero value is what RFC 4180 and
// custom say, with a delimiter that is found out.
type oldDialect struct {
	// Of delimited text.
	Delimiter        byte   // between values; 0: found in the header, a tab in TSV
	Quote            byte   // around values; 0: '"'
	NoQuote          bool   // a quote is a character like others
	NoDoubleQuote    bool   // two quotes in a quoted value are not one
	Escape           byte   // takes the meaning from the character behind it; 0: none does
	SkipInitialSpace bool   // blanks behind a delimiter do not belong to the value
	Comment          string // a line that begins with it is no record; empty: every line is one
	CommentRows      []int  // lines, from 1, that are no records
	Null             string // a value that stands for a missing one; empty: none does

	// Of delimited text and workbooks.
	NoHeader   bool   // the first record is data; fields name the columns, or their numbers do
	HeaderRows []int  // lines, from 1, that name the columns together; empty: the first
	HeaderJoin string // between the parts of a name from several lines; empty: a blank

	// Of JSON.
	Property string   // the member that holds the records, such as data or result.items; empty: found out
	ItemKeys []string // columns of records that are arrays; empty: the first array names them

	// Of workbooks and databases.
	Sheet       string // by name; empty: by number
	SheetNumber int    // from 1; 0: the first
	Table       string // empty: the only one
}

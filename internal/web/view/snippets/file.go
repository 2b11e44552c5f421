package snippets

import (
	"cmp"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/typed"
)

// File is the complete result of a view, as a file.
type File struct {
	Live    string // URL of the CSV file of the live version, or of the version that the view names, with typed values
	Pinned  string // URL of the CSV file of the version that is live now, with typed values
	NDJSON  string // the same as NDJSON
	Parquet string // URL of the Parquet file of that version; empty: the view has no such file
	Name    string // of the file, without an extension
	Locked  bool   // it requires a key
	Numbers []string
	Dates   []string
}

// maxConverted is how many columns a program converts. The others stay text.
const maxConverted = 60

// SetColumns selects the columns that programs convert from the texts of typed values: dates, and
// numbers with no more digits than a double holds. types is nil if the visitor may not know them;
// selected are the positions of the columns in the file, nil if it has all.
func (f *File) SetColumns(fields []herb.Field, types []typed.Column, selected []int) {
	const doubleDigits = 15
	for i, t := range types {
		inFile := selected == nil || slices.Contains(selected, i)
		if !inFile || !isPlain(fields[i].Name) || len(f.Numbers)+len(f.Dates) == maxConverted {
			continue
		}
		switch {
		case fields[i].Type == herb.TypeNumber &&
			(t.Kind == typed.Int64 || t.Kind == typed.Decimal && t.Precision <= doubleDigits):
			f.Numbers = append(f.Numbers, fields[i].Name)
		case t.Kind == typed.Date:
			f.Dates = append(f.Dates, fields[i].Name)
		}
	}
}

// URL returns the address of the file that programs read: the Parquet file if there is one.
func (f File) URL() string { return cmp.Or(f.Parquet, f.Pinned) }

// File returns the name of the copy that programs make of it.
func (f File) File() string {
	if f.Parquet != "" {
		return f.Name + ".parquet"
	}
	return f.Name + ".csv"
}

// Files returns programs that read a file as a table. A Parquet file has types, so they convert
// nothing.
func Files(f File) []Snippet {
	table, sheets := "-csv", Snippet{"Google Sheets", "Enter the formula into the first cell of an empty sheet.",
		program("sheets", f)}
	if f.Parquet != "" {
		table = "-parquet"
	}
	if f.Locked {
		sheets.Note = "In Extensions > Apps Script, store the key as the script property HERBARIUM_KEY, then run the " +
			"function."
		sheets.Code = program("appsscript", f)
	}
	query := program("powerquery", f)
	return []Snippet{
		{"Excel", "Data > Get Data > From Other Sources > Blank Query > Advanced Editor.", query},
		{"Power BI", "Get data > Blank query > Advanced editor.", query},
		sheets,
		{"R", "", program("r"+table, f)},
		{"pandas", "", program("pandas"+table, f)},
		{"DuckDB", "For a shell, with curl and the command line of DuckDB.", program("duckdb"+table, f)},
		{"Observable", "A cell of a notebook.", program("observable", f)},
	}
}

package view

import (
	"io/fs"
	"iter"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/text"
)

// Kind determines how the values of a column are shown.
type Kind int

// The kinds of columns.
const (
	KindText Kind = iota
	KindNumber
	KindCode // a number that identifies something, such as an ID or a year
	KindDate
	KindList
	KindImage
)

// Column is a column of the table.
type Column struct {
	herb.Field
	Index   int // of the field
	Kind    Kind
	Heading string
	IsCode  bool // the digits of numbers are not grouped

	decimals int // places of the numbers of the page
}

// setDecimals sets how many decimal places the numbers of a page are shown with.
func (c *Column) setDecimals(rows []herb.Record) {
	if c.Kind != KindNumber {
		return
	}
	values := make([]string, len(rows))
	for i, row := range rows {
		values[i] = row[c.Index]
	}
	c.decimals = decimals(&c.Field, values...)
}

// number groups the digits of a number, unless it is a code.
func (c *Column) number(s string) string {
	if c.IsCode {
		return s
	}
	return GroupNumber(&c.Field, s)
}

// Heading returns the title of a field, or its name.
func Heading(f herb.Field) string {
	if PlainText(f.Title) != "" {
		return f.Title
	}
	return f.Name
}

// NewColumn returns the column of the field at a position.
func NewColumn(d *herb.Dataset, i int) Column {
	kind := KindOf(d, i)
	return Column{Field: d.Fields[i], Index: i, Kind: kind, Heading: Heading(d.Fields[i]), IsCode: kind == KindCode || kind == KindNumber && isNumbering(d, i)}
}

// HasImages reports whether a dataset has a column of images.
func HasImages(d *herb.Dataset) bool {
	for range ImageFields(d) {
		return true
	}
	return false
}

// ImageFields returns the positions of the columns of images.
func ImageFields(d *herb.Dataset) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range d.Fields {
			if KindOf(d, i) == KindImage && !yield(i) {
				return
			}
		}
	}
}

// KindOf returns the kind of a field. A field contains images if its name says so, or if the
// publish report shows that its values are addresses of images.
func KindOf(d *herb.Dataset, i int) Kind {
	f := d.Fields[i]
	switch f.Type {
	case herb.TypeNumber:
		if isCodeName(f.Name) || slices.Contains(d.PrimaryKey, f.Name) {
			return KindCode
		}
		if c := ColumnReport(d, i); c != nil && isYear(c.Min) && isYear(c.Max) {
			return KindCode
		}
		return KindNumber
	case herb.TypeDate, herb.TypeDateTime:
		return KindDate
	case herb.TypeList:
		return KindList
	case herb.TypeBoolean:
		return KindText
	}
	if hasWord(f.Name, "image", "img", "photo", "picture", "thumbnail", "thumb", "logo", "avatar", "cover", "icon") {
		return KindImage
	}
	if c := ColumnReport(d, i); c != nil && isImageFile(c.Min) && isImageFile(c.Max) {
		return KindImage
	}
	return KindText
}

// ColumnReport returns the publish report of a field; nil if there is none.
func ColumnReport(d *herb.Dataset, i int) *herb.ColumnReport {
	if d.Report == nil || i >= len(d.Report.Columns) || d.Report.Columns[i].Field != d.Fields[i].Name {
		return nil
	}
	return &d.Report.Columns[i]
}

// hasWord reports whether an identifier such as image_url, imageUrl or image-url contains one of
// the words.
func hasWord(name string, words ...string) bool {
	return slices.ContainsFunc(identifierWords(name), func(w string) bool { return slices.Contains(words, w) })
}

// identifierWords returns the words of an identifier in lower case. A longer name has none: the
// catalogue reads the names of all datasets several times.
func identifierWords(name string) []string {
	const maxIdentifier = 128
	if len(name) > maxIdentifier {
		return nil
	}
	var b strings.Builder
	lower := false
	for _, r := range name {
		isUpper := r >= 'A' && r <= 'Z'
		if isUpper && lower {
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
		if !isUpper && !lower {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.Fields(strings.ToLower(b.String()))
}

// IsWebAddress reports whether a value may become the target of a link: an http or https URL
// without user information, which is used to deceive.
func IsWebAddress(s string) bool {
	const maxAddress = 2000
	if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") || len(s) > maxAddress || strings.ContainsAny(s, " \"<>\\^`{|}") {
		return false
	}
	u, err := url.Parse(s) // rejects control characters
	return err == nil && u.Host != "" && u.User == nil
}

// imageExtensions are the extensions of the image files that browsers show.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}

// imageAddress returns the address of the image that a value of an image column names, or "" if the
// value names none. A relative path is a file below s.Files. A page of an older version shows the
// images that its rows name.
func (s *State) imageAddress(value string) string {
	switch {
	case strings.HasPrefix(value, "https://") && IsWebAddress(value): // browsers block http images as mixed content
		return value
	case s.Files != "" && IsImagePath(value):
		return Join(s.Files+(&url.URL{Path: value}).EscapedPath(), query.Params{}.WithValue(query.ParamVersion, s.Version).Encode())
	}
	return ""
}

// IsImagePath reports whether s is the relative path of an image file, without hidden folders.
func IsImagePath(s string) bool {
	return fs.ValidPath(s) && !strings.HasPrefix(s, ".") && !strings.Contains(s, "/.") && hasImageExtension(s)
}

// isImageFile reports whether a value is the URL or the relative path of an image file.
func isImageFile(s string) bool {
	u, err := url.Parse(s)
	return err == nil && IsWebAddress(s) && hasImageExtension(u.Path) || IsImagePath(s)
}

func hasImageExtension(s string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(s)))
}

// The limits of a page; a dataset may have ten thousand fields.
const (
	maxDefaultColumns = 30  // shown if none are selected
	maxColumns        = 100 // shown at most
	maxOffered        = 100 // offered by a menu; a search finds the others
)

// columnParams returns the parameters that select the columns: none for the default ones, else one,
// unless a name contains a comma, which separates the names of query.ParamFields.
func (s *State) columnParams() query.Params {
	if len(s.Columns) == 0 {
		return nil
	}
	var names []string
	var ps query.Params
	for _, i := range s.Columns {
		names, ps = append(names, s.fields[i].Name), append(ps, query.Param{Name: ParamColumn, Value: s.fields[i].Name})
	}
	joined := strings.Join(names, ",")
	if len(names) > 1 && strings.Count(joined, ",") >= len(names) {
		return ps
	}
	return query.Params{{Name: query.ParamFields, Value: joined}}
}

// changeColumns applies a parameter that hides or moves a column.
func (s *State) changeColumns(p query.Param) {
	step, ok := map[string]int{ParamHide: 0, ParamLeft: -1, ParamRight: 1}[p.Name]
	if !ok {
		return
	}
	columns := slices.Clone(s.ShownColumns())
	from := slices.Index(columns, herb.FieldIndex(s.fields, p.Value))
	if from < 0 || len(columns) == 1 {
		return
	}
	field := columns[from]
	columns = slices.Delete(columns, from, from+1)
	if step != 0 {
		columns = slices.Insert(columns, max(0, min(from+step, len(columns))), field)
	} else if s.Pin == field {
		s.Pin = -1
	}
	s.Columns = columns
}

// ShownColumns returns the positions of the columns to show, the one that stays in view first.
func (s *State) ShownColumns() []int {
	columns := s.Columns
	if columns == nil {
		columns = defaultColumns(s.dataset)
	}
	if s.Pin < 0 {
		return columns
	}
	others := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return i == s.Pin })
	return append([]int{s.Pin}, others...)
}

// defaultColumns returns the column that names the records, and the first ones of the others.
func defaultColumns(d *herb.Dataset) []int {
	if len(d.Fields) == 0 {
		return nil
	}
	columns := []int{NamingColumn(d)}
	for i := range d.Fields[:min(len(d.Fields), maxDefaultColumns)] {
		if i != columns[0] {
			columns = append(columns, i)
		}
	}
	return columns[:min(len(columns), maxDefaultColumns)]
}

// NamingColumn returns the position of the field whose values name the records for a reader: a
// title or name, else a short text that differs in all records and is no identifier, else the
// primary key, else the first field.
func NamingColumn(d *herb.Dataset) int {
	best := bestColumn(d, func(i int) int { return namingScore(d, i) })
	if best < 0 {
		best = bestColumn(d, func(i int) int { return uniqueTextScore(d, i) })
	}
	if best < 0 && len(d.PrimaryKey) > 0 {
		best = herb.FieldIndex(d.Fields, d.PrimaryKey[0])
	}
	return max(best, 0)
}

// bestColumn returns the position of the first field with the highest score; -1 if all scores
// are 0.
func bestColumn(d *herb.Dataset, score func(i int) int) int {
	best, highest := -1, 0
	for i := range d.Fields {
		if s := score(i); s > highest {
			best, highest = i, s
		}
	}
	return best
}

// namingScore rates a field as the name of a record; 0 if it is none.
func namingScore(d *herb.Dataset, i int) int {
	f := d.Fields[i]
	if f.Type != herb.TypeText || KindOf(d, i) != KindText {
		return 0
	}
	if c := ColumnReport(d, i); c != nil && d.Records > 0 && (10*c.Filled < 9*d.Records || 2*c.Distinct < c.Filled) {
		return 0 // often empty, or shared by many records
	}
	switch lower := strings.ToLower(f.Name); {
	case lower == "title" || lower == "name" || lower == "label":
		return 4
	case !hasWord(f.Name, "title", "name", "label"):
		return 0
	case hasWord(f.Name, "display", "full", "common"):
		return 3
	case hasWord(f.Name, "en", "english"):
		return 2
	}
	return 1
}

// uniqueTextScore rates a field by its values as the name of a record; 0 if it is none. Names
// consist of words.
func uniqueTextScore(d *herb.Dataset, i int) int {
	f, c := d.Fields[i], ColumnReport(d, i)
	if c == nil || f.Type != herb.TypeText || KindOf(d, i) != KindText || isCodeName(f.Name) || IsWebAddress(c.Min) || IsWebAddress(c.Max) {
		return 0
	}
	isName := func(value string) bool {
		return strings.ContainsFunc(value, unicode.IsLetter) && !strings.ContainsFunc(value, unicode.IsDigit) && !strings.ContainsAny(value, "@_/")
	}
	if 10*c.Filled < 9*d.Records || 10*c.Distinct < 9*c.Filled || c.Longest > longText || !isName(c.Min) || !isName(c.Max) {
		return 0
	}
	return 1
}

// FieldMenu is a searchable list of fields.
type FieldMenu struct {
	Items    []FieldItem
	Shown    int          // columns of the table
	Total    int          // fields of the dataset
	Complete bool         // the list contains all of them
	Hidden   query.Params // carried along by the form
	Reset    string       // link to the default columns; empty: they are shown
}

// FieldItem is a field to choose.
type FieldItem struct {
	Column
	Shown bool
}

// NewColumnMenu returns the menu that selects columns. It lists the shown ones first. The form
// carries along those that do not contain the text to find.
func NewColumnMenu(s *State) FieldMenu {
	other, shown := *s, s.ShownColumns()
	other.Columns = nil
	m := FieldMenu{Hidden: other.Hidden(), Shown: len(shown), Total: len(s.fields), Complete: true}
	if s.Columns != nil {
		m.Reset = other.Href(s.Listing)
	}
	for _, i := range shown {
		if !m.add(s, i, true) {
			m.Hidden = m.Hidden.WithValue(ParamColumn, s.fields[i].Name)
		}
	}
	for i := range s.fields {
		if !slices.Contains(shown, i) {
			m.add(s, i, false)
		}
	}
	return m
}

// NewFilterMenu returns the menu that adds a filter.
func NewFilterMenu(s *State) FieldMenu {
	m := FieldMenu{Hidden: s.Hidden(), Total: len(s.fields), Complete: true}
	for i, f := range s.fields {
		if f.Filterable {
			m.add(s, i, false)
		}
	}
	return m
}

// add adds a field if its name contains the text to find. Shown ones are not limited, because their
// checkboxes keep them shown.
func (m *FieldMenu) add(s *State, field int, shown bool) bool {
	f := s.fields[field]
	found := strings.Contains(text.Fold(f.Name+" "+f.Title), text.Fold(s.Find))
	if !found || !shown && len(m.Items) >= maxOffered {
		m.Complete = false
		return false
	}
	m.Items = append(m.Items, FieldItem{NewColumn(s.dataset, field), shown})
	return true
}

package drafts

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/publish/review"
)

// The edits that a button of a review makes. They are followed by the number of a row, the position
// of a column, or a value.
const (
	doKeep    = "keep"    // a row is a record
	doDrop    = "drop"    // a row is not a record
	doHeader  = "header"  // a row has the names of the columns; 0: none has
	doJoin    = "join"    // a row has names of the columns, too, or no longer
	doHide    = "hide"    // a column is not published
	doShow    = "show"    // a column is published
	doMissing = "missing" // the values that prevent the type of a column are missing values
	doText    = "text"    // a column is text
	doFormat  = "format"  // a column has dates in a format
	doName    = "name"    // a column gets a name
	doUndo    = "undo"    // a column is published as it is in the file
	doAccess  = "access"  // who may read the dataset
	doKey     = "key"     // a field is the primary key
	doExclude = "exclude" // rows with a value in a column are left out
	doInclude = "include" // rows with a value in a column are records
	doReset   = "reset"   // everything is published as it is in the file
	doSingle  = "single"  // the file is one table, unlike that of the live version
)

// action returns the value of the button for an edit.
func action(do string, n int) string { return do + " " + strconv.Itoa(n) }

// applyForm returns the edits of a draft after its form was submitted. For each input, the form has
// the value that the page has shown, with the prefix "was-": only inputs that differ from it are
// edits, because the review may be another one by now.
func applyForm(r *review.Review, current review.Edits, form url.Values) (review.Edits, error) {
	e := cloneEdits(current)
	if form.Get("do") == doReset {
		return review.Edits{Table: e.Table, Link: e.Link, Refresh: e.Refresh, Message: e.Message}, nil
	}
	if given, changed := changedInput(form, "message"); changed {
		e.Message = given
	}
	for name, edit := range map[string]**string{"title": &e.Title, "about": &e.Description, "license": &e.License,
		"expected": &e.Expected} {
		if given, changed := changedInput(form, name); changed {
			*edit = &given
		}
	}
	if given, changed := changedInput(form, "access"); changed {
		access, err := herb.ParseAccess(given)
		if err != nil {
			return e, err
		}
		e.Access = access
	}
	if given, changed := changedInput(form, "encoding"); changed {
		e.Encoding = given
	}
	shown := e.Table // by the page
	if form.Has("was-table") {
		shown = form.Get("was-table")
	}
	for _, name := range []string{"table", "pick"} {
		if table := form.Get(name); table != "" && table != shown && slices.Contains(r.Tables, table) {
			// Rows and columns belong to the previous table.
			return review.Edits{Table: table, Encoding: e.Encoding, Link: e.Link, Refresh: e.Refresh,
				Descriptor: e.Descriptor, Title: e.Title, Description: e.Description, License: e.License,
				Expected: e.Expected, Access: e.Access, Message: e.Message}, nil
		}
	}
	before := cloneEdits(e)
	if err := applyToTable(r, &e, form); err != nil {
		return e, err
	}
	if shown != e.Table && !e.Equal(before) { // of another tab
		return e, herb.Errorf(herb.CodeRejected,
			"the table %q was chosen elsewhere, and this change was made to another table; make it again if it still "+
				"applies",
			herb.Clip(e.Table, 60))
	}
	return e, nil
}

// applyToTable applies the edits of a form that are about rows and columns of the table.
func applyToTable(r *review.Review, e *review.Edits, form url.Values) error {
	if form.Has("keys") && !sameNames(form["key"], form["was-key"]) {
		key := orderKey(form["key"], form["was-key"])
		e.PrimaryKey = &key
	}
	for name := range form {
		kind, number, _ := strings.Cut(strings.TrimPrefix(name, "was-"), "-")
		position, err := strconv.Atoi(number)
		if err != nil || !slices.Contains([]string{"name", "title", "type", "format"}, kind) {
			continue
		}
		if err := applyColumn(r, e, position, form); err != nil {
			return err
		}
	}
	return doEdit(r, e, form.Get("do"))
}

// changedInput returns the value of an input, and whether it differs from what the page has shown.
func changedInput(form url.Values, name string) (value string, changed bool) {
	if !form.Has(name) {
		return "", false
	}
	clean := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	value = clean(form.Get(name))
	return value, value != clean(form.Get("was-"+name))
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// orderKey returns the fields of a primary key: those that were part of it first, in their order.
func orderKey(given, current []string) []string {
	key := slices.DeleteFunc(slices.Clone(current), func(name string) bool { return !slices.Contains(given, name) })
	for _, name := range given {
		if !slices.Contains(key, name) {
			key = append(key, name)
		}
	}
	return key
}

// applyColumn applies the inputs of a column.
func applyColumn(r *review.Review, e *review.Edits, position int, form url.Values) error {
	edit, number := e.Columns[position], strconv.Itoa(position)
	if given, changed := changedInput(form, "name-"+number); changed {
		edit.Name = given
	}
	if given, changed := changedInput(form, "title-"+number); changed {
		edit.Title = &given
	}
	if given, changed := changedInput(form, "type-"+number); changed {
		edit.Type, edit.Format = herb.Type(given), ""
		if given != "" && !slices.Contains(herb.Types(), edit.Type) {
			return herb.Invalidf("unknown type %q of column %d", herb.Clip(given, 40), position+1)
		}
	}
	if given, changed := changedInput(form, "format-"+number); changed {
		edit.Format = given
		if edit.Type == "" && position < len(r.Columns) {
			edit.Type = r.Columns[position].Type
		}
		if !isDate(edit.Type) {
			edit.Type = herb.TypeDate
			if strings.Contains(given, "%H") || strings.Contains(given, "%I") {
				edit.Type = herb.TypeDateTime
			}
		}
	}
	setColumn(e, position, edit)
	return nil
}

func setColumn(e *review.Edits, position int, edit review.ColumnEdit) {
	if e.Columns == nil {
		e.Columns = map[int]review.ColumnEdit{}
	}
	e.Columns[position] = edit
}

// doEdit makes the edit of a button.
func doEdit(r *review.Review, e *review.Edits, do string) error {
	do, value, _ := strings.Cut(do, " ")
	switch do {
	case "", "check", "publish": // the inputs only
		return nil
	case doSingle:
		e.Tables = &[]string{}
		return nil
	case doAccess:
		access, err := herb.ParseAccess(value)
		e.Access = access
		return err
	case doKey:
		e.PrimaryKey = &[]string{value}
		return nil
	}
	number, rest, _ := strings.Cut(value, " ")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return errUnknownEdit()
	}
	switch do {
	case doKeep:
		e.Keep, e.Drop = toggleRow(n, e.Keep, e.Drop)
		return nil
	case doDrop:
		e.Drop, e.Keep = toggleRow(n, e.Drop, e.Keep)
		return nil
	case doJoin:
		rows := toggleHeader(r, *e, n)
		e.HeaderRows = &rows
		return nil
	case doHeader:
		rows := []int{}
		if n > 0 {
			rows = append(rows, n)
		}
		e.HeaderRows = &rows
		return nil
	}
	if do == doExclude || do == doInclude {
		var value string
		if json.Unmarshal([]byte(rest), &value) != nil {
			return errUnknownEdit()
		}
		e.Exclude = decideValue(e.Exclude, review.ValueEdit{Column: n, Value: value, Keep: do == doInclude})
		return nil
	}
	c := review.Column{Position: n, Source: "column " + strconv.Itoa(n+1)}
	if i := slices.IndexFunc(r.Columns, func(c review.Column) bool { return c.Position == n }); i >= 0 {
		c = r.Columns[i]
	} else if len(r.Columns) > 0 || do == doMissing { // no column is known while the file is read
		return errUnknownEdit()
	}
	edit, err := editColumn(c, e.Columns[n], do, rest)
	setColumn(e, n, edit)
	return err
}

// editColumn makes the edit of a button of a column.
func editColumn(c review.Column, edit review.ColumnEdit, do, value string) (review.ColumnEdit, error) {
	switch do {
	case doHide:
		edit.Hidden = true
	case doShow:
		edit.Hidden = false
	case doText:
		edit.Type, edit.Format = herb.TypeText, ""
	case doFormat:
		kind, format, _ := strings.Cut(value, " ")
		edit.Type, edit.Format = herb.Type(kind), format
	case doName:
		edit.Name = value
	case doUndo:
		edit = review.ColumnEdit{Hidden: edit.Hidden}
	case doMissing:
		if c.Most {
			return edit, herb.Invalidf("most values of the column %q are not %ss, so they cannot be missing values",
				c.Source, c.Almost)
		}
		if edit.Format == "" {
			edit.Type = ""
		}
		covered := 0
		for _, other := range c.Others {
			if !other.IsShort {
				edit.Missing, covered = append(slices.Clip(edit.Missing), other.Value), covered+other.Count
			}
		}
		if covered >= c.Rest { // no other value prevents the type
			edit.Type = c.Almost
		}
	default:
		return edit, errUnknownEdit()
	}
	return edit, nil
}

func errUnknownEdit() error {
	return herb.Invalidf("unknown edit; reload the page")
}

// toggleRow adds a row to a list, or only removes it from the opposite one if it is there.
func toggleRow(n int, list, opposite []int) (_, _ []int) {
	if i := slices.Index(opposite, n); i >= 0 {
		return list, slices.Delete(slices.Clone(opposite), i, i+1)
	}
	if !slices.Contains(list, n) {
		list = append(slices.Clip(list), n)
		slices.Sort(list)
	}
	return list, opposite
}

// toggleHeader returns the rows that name the columns, with or without one of them.
func toggleHeader(r *review.Review, e review.Edits, n int) (rows []int) {
	if e.HeaderRows != nil {
		rows = slices.Clone(*e.HeaderRows)
	} else {
		rows = headerRows(r.Rows)
	}
	if i := slices.Index(rows, n); i >= 0 {
		return slices.Delete(rows, i, i+1)
	}
	rows = append(rows, n)
	slices.Sort(rows)
	return rows
}

// headerRows returns the numbers of the rows with the names of the columns.
func headerRows(rows []review.Row) (numbers []int) {
	for _, row := range rows {
		if row.Kind == review.RowHeader && row.Number > 0 && !isEmptyRow(row) {
			numbers = append(numbers, row.Number)
		}
	}
	return numbers
}

// decideValue adds a decision to a list, or only removes the opposite one if it is there.
func decideValue(list []review.ValueEdit, x review.ValueEdit) []review.ValueEdit {
	i := slices.IndexFunc(list, func(other review.ValueEdit) bool {
		return other.Column == x.Column &&
			other.Value == x.Value
	})
	switch {
	case i < 0:
		return append(slices.Clip(list), x)
	case list[i].Keep != x.Keep:
		return slices.Delete(slices.Clone(list), i, i+1)
	}
	return list
}

func cloneEdits(e review.Edits) review.Edits {
	e.Keep, e.Drop, e.Columns = slices.Clone(e.Keep), slices.Clone(e.Drop), maps.Clone(e.Columns)
	return e
}

// isUnedited reports whether the publisher has changed nothing but the table of the file and the
// message, besides the address that the file comes from.
func isUnedited(e review.Edits) bool {
	return e.Equal(review.Edits{Table: e.Table, Link: e.Link, Refresh: e.Refresh, Message: e.Message})
}

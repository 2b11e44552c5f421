package drafts

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/progress"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web/site"
	"herbarium/internal/web/view/datasets"
	"herbarium/internal/web/view/format"
	"herbarium/internal/web/view/state"
)

// publishHead is the head of the pages of a publish.
type publishHead struct {
	Line string         // what is published
	Step int            // 1: choose a file, 2: review it, 3: live
	Done *datasets.Done // with a dataset that the visitor may not read; nil: nothing

	Encodings []encodingChoice // of the file; empty: it is not in doubt
	Encoding  string           // that the publisher has chosen; empty: none
}

// encodingChoice is an encoding of the file.
type encodingChoice struct {
	Value, Label string // an empty value is the detected encoding
	Selected     bool
}

// encodingChoices returns the encodings that a file may have, each with words of the file.
func encodingChoices(r *review.Review) (all []encodingChoice) {
	const most = 4
	edited := r.Draft.Edits.Encoding
	for _, e := range r.Encodings {
		c := encodingChoice{Value: e.Encoding, Selected: strings.EqualFold(e.Encoding, r.Encoding)}
		var words []string
		for _, word := range e.Words[:min(len(e.Words), most)] {
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				words = append(words, format.PlainText(word))
			}
		}
		c.Label = e.Encoding
		if len(words) > 0 {
			c.Label += ": " + strings.Join(words, ", ")
		}
		if c.Selected && edited == "" {
			c.Value = "" // it stays detected
		}
		all = append(all, c)
	}
	if len(all) > 0 && !slices.ContainsFunc(all, func(c encodingChoice) bool { return c.Selected }) {
		all = append([]encodingChoice{{Value: edited, Label: cmp.Or(r.Encoding, "UTF-8"), Selected: true}}, all...)
	}
	return all
}

// reviewPage is the review of a draft.
type reviewPage struct {
	*review.Review
	Head     publishHead
	Path     string        // of the draft
	Start    string        // path of the page to choose a file
	Dataset  string        // path of the dataset
	Notice   string        // why the draft was not published; empty: nothing
	Refresh  int           // seconds until the page has more to show; 0: it is complete
	Progress *progressView // nil: the review is complete
	Shown    []reviewColumn
	Pages    []state.Link // to other columns; empty: all are shown
	FileRows []fileRow
	First    int // position of the first shown column

	chooses bool       // the publisher asks for the choice of tables
	choice  url.Values // the form of the choice; nil: not sent

	Consents []consentGroup // that publishing it requires
}

// shownColumns is how many columns a page shows.
const shownColumns = 60

// newReviewPage returns the page about a review, with columns from the given one on.
func (p *Pages) newReviewPage(r *review.Review, from int) *reviewPage {
	page := &reviewPage{
		Review: r, Path: p.draftPath(r.Draft.ID), Start: p.Base + site.PathPublish, Dataset: p.DatasetPath(r.Draft.Ref),
		Progress: newProgressView(r.Progress),
		Head: publishHead{Step: 2, Line: cmp.Or(r.Draft.Name, "pasted table") + " · " +
			herb.FormatBytes(r.Draft.Size)},
	}
	if _, table, ok := strings.Cut(r.Format, ", "); ok {
		page.Head.Line += " · " + table
	}
	page.Head.Encodings, page.Head.Encoding = encodingChoices(r), r.Draft.Edits.Encoding
	if page.Progress != nil {
		page.Refresh = 1
	}
	page.First = max(0, min(from, len(r.Columns)-1)) / shownColumns * shownColumns
	for at := 0; len(r.Columns) > shownColumns && at < len(r.Columns); at += shownColumns {
		last := min(at+shownColumns, len(r.Columns))
		page.Pages = append(page.Pages, state.Link{
			Label: fmt.Sprintf("%s–%s", herb.Count(at+1), herb.Count(last)), Href: page.Path + "?" + paramColumn + "=" +
				strconv.Itoa(at), Current: at == page.First,
		})
	}
	for _, c := range r.Columns[page.First:min(page.First+shownColumns, len(r.Columns))] {
		page.Shown = append(page.Shown, page.newColumn(c))
	}
	for _, row := range r.Rows {
		page.FileRows = append(page.FileRows, page.newRow(row))
	}
	page.setWidths()
	page.Consents = groupByConsent(r)
	return page
}

// setWidths sets the widths of the shown columns by their names and the values of the shown rows.
func (page *reviewPage) setWidths() {
	// pixels; letters of names are bold
	const least, leastDates, most, character, letter, space, button = 132, 190, 340, 7, 8, 22, 70
	for k := range page.Shown {
		c := &page.Shown[k]
		c.Width = least
		if c.HasDates() && !c.Hidden() {
			c.Width = leastDates
		}
		c.Width = max(c.Width, button+letter*utf8.RuneCountInString(c.Field))
		for _, row := range page.FileRows {
			if k < len(row.Values) {
				c.Width = max(c.Width, space+character*utf8.RuneCountInString(row.Values[k].Text))
			}
		}
		c.Width = min(c.Width, most)
	}
}

// paramColumn is the parameter for the position of the first column that a review shows.
const paramColumn = "column"

// progressView is how far a server is with a file, in words and as a bar.
type progressView struct {
	Words       string
	Done, Total int64 // Total is 0 if it is not known
}

func newProgressView(p *progress.Progress) *progressView {
	if p == nil {
		return nil
	}
	v := &progressView{Words: "Waiting", Done: min(p.Done, max(p.Total, 0)), Total: p.Total}
	if p.Phase != "" {
		v.Words = strings.ToUpper(p.Phase[:1]) + p.Phase[1:]
	}
	if p.Steps > 1 {
		v.Words += fmt.Sprintf(", step %d of %d", p.Step, p.Steps)
	}
	if p.Records > 0 {
		v.Words += ", " + herb.Plural(p.Records, "record", "records")
	}
	return v
}

// Locked reports whether the dataset will require a key.
func (page *reviewPage) Locked() bool { return page.Access.NeedsKey() }

// Edited reports whether the publisher has changed settings of the draft.
func (page *reviewPage) Edited() bool { return !isUnedited(page.Draft.Edits) }

// MaxMessage returns the maximum length of the message of a version.
func (*reviewPage) MaxMessage() int { return herb.MaxMessage }

// DefaultTitle returns what pages call the dataset without a title.
func (page *reviewPage) DefaultTitle() string {
	return datasets.Title(&herb.Dataset{Ref: page.Draft.Ref})
}

// Publishable reports whether the draft can be published as it is.
func (page *reviewPage) Publishable() bool {
	return page.Progress == nil && page.Error == "" && len(page.Columns) > 0
}

// MustChoose reports whether the publisher must choose one of the tables of the file first.
func (page *reviewPage) MustChoose() bool {
	return len(page.Tables) > 0 && (page.chooses || len(page.Columns) == 0 && page.Draft.Edits.Table == "")
}

// Width returns the least width of the table of rows in pixels.
func (page *reviewPage) Width() int {
	width := page.NumberWidth()
	for _, c := range page.Shown {
		width += c.Width
	}
	return width
}

// NumberWidth returns the width of the column with the numbers of rows and what they are.
func (page *reviewPage) NumberWidth() int {
	const least, letter, digit, space = 164, 6, 8, 34 // pixels
	width := least
	for _, r := range page.FileRows {
		width = max(width, space+letter*len(r.Label)+digit*max(3, len(strconv.Itoa(r.Number))))
	}
	return width
}

// Licenses returns the identifiers of the usual licenses of data.
func (page *reviewPage) Licenses() []string {
	return []string{"CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "ODC-By-1.0", "ODbL-1.0", "PDDL-1.0",
		"OGL-UK-3.0", "DL-DE-BY-2.0", "etalab-2.0"}
}

// expectation is a choice of how often the dataset changes.
type expectation struct {
	Value, Label string
	Selected     bool
}

// Expectations returns how often the dataset may change: what is stated, and the usual intervals.
func (page *reviewPage) Expectations() (all []expectation) {
	all = []expectation{
		{"", "not stated", false}, {"hourly", "every hour", false}, {"daily", "every day", false},
		{"weekly", "every week", false}, {"biweekly", "every two weeks", false}, {"monthly", "every month", false},
		{"quarterly", "every quarter", false}, {"semiannual", "twice a year", false}, {"annual", "every year", false},
		{"biennial", "every two years", false}, {string(herb.FrequencyNever), "never again", false},
	}
	i := slices.IndexFunc(all, func(e expectation) bool { return e.Value == page.Review.Expected })
	if i < 0 {
		all, i = append(all, expectation{page.Review.Expected, "every " + page.Review.Expected, true}), len(all)
	}
	all[i].Selected = true
	return all
}

// keyChoice is a field that may be part of the primary key.
type keyChoice struct {
	Field    string
	Original string // see review.Column
	Chosen   bool
}

// KeyChoices returns the fields of the primary key, and the others.
func (page *reviewPage) KeyChoices() (all []keyChoice) {
	const most = 300
	for _, name := range page.Key {
		original := name
		if i := slices.IndexFunc(page.Columns, func(c review.Column) bool { return c.Field == name }); i >= 0 {
			original = page.Columns[i].Original
		}
		all = append(all, keyChoice{name, original, true})
	}
	for _, c := range page.Columns {
		if c.Field != "" && !slices.Contains(page.Key, c.Field) && len(all) < most {
			all = append(all, keyChoice{Field: c.Field, Original: c.Original})
		}
	}
	return all
}

// UniqueField returns the field that is proposed as the primary key; nil: none.
func (page *reviewPage) UniqueField() *keyChoice {
	for _, c := range page.KeyChoices() {
		if page.Unique != "" && c.Original == page.Unique {
			return &c
		}
	}
	return nil
}

// BlamesColumn reports whether the error of the review is shown at a column.
func (page *reviewPage) BlamesColumn() bool {
	return slices.ContainsFunc(page.Shown, func(c reviewColumn) bool { return c.Error != "" })
}

// Summary says what becomes of the values of the file, and how much of it is not published.
func (page *reviewPage) Summary() string {
	words, hidden := "Values are published as they are written in the file.", 0
	for _, c := range page.Columns {
		if c.Field == "" {
			hidden++
		}
	}
	var out []string
	if page.LeftOut > 0 {
		out = append(out, herb.Plural(page.LeftOut, "row", "rows"))
	}
	if hidden > 0 {
		out = append(out, herb.Plural(hidden, "column", "columns"))
	}
	if len(out) == 0 {
		return words
	}
	verb := " is"
	if page.LeftOut+hidden > 1 {
		verb = " are"
	}
	words += " " + strings.Join(out, " and ") + verb + " left out"
	if page.LeftOut > 0 && page.Unit != "" {
		words += "; click the label of a row to keep it"
	}
	return words + "."
}

// draftPath returns the path of the review of a draft.
func (p *Pages) draftPath(id string) string {
	return path.Join(p.Base+site.PathPublish, url.PathEscape(id))
}

// breakingChange is a change that requires the consent of the publisher.
type breakingChange struct {
	Heading, Detail string
	Remedies        []remedy
}

// BreakingChanges returns the changes of a group.
func (page *reviewPage) BreakingChanges(g consentGroup) (all []breakingChange) {
	for _, c := range g.Changes {
		all = append(all, page.newBreakingChange(c))
	}
	return all
}

func (page *reviewPage) newBreakingChange(change versions.Change) breakingChange {
	b := breakingChange{Heading: change.Message}
	switch change.Kind {
	case versions.TypeChanged:
		i := slices.IndexFunc(page.Columns, func(c review.Column) bool { return c.Field == change.Field })
		if i < 0 {
			break
		}
		c := &page.Columns[i]
		b.Heading = fmt.Sprintf("%s would become %s", change.Field, c.Type)
		b.Remedies, b.Detail = remediesOf(*c), cmp.Or(questionOf(*c), change.Message)
		if c.Almost != "" && len(c.Others) > 0 && len(c.DateNotations) == 0 {
			b.Detail = exceptions(c)
		}
	case versions.FieldRenamed:
		for _, c := range page.Columns {
			if c.Added && c.Field == change.Renamed {
				b.Remedies = []remedy{{Label: "Call it " + change.Field, Do: action(doName, c.Position) + " " +
					change.Field}}
			}
		}
	case versions.FieldRemoved:
		for _, c := range page.Columns {
			if c.Edit.Hidden && (c.Source == change.Field || c.Edit.Name == change.Field) {
				b.Remedies = []remedy{{Label: "Publish the column", Do: action(doShow, c.Position)}}
			}
		}
	case versions.AccessChanged:
		b.Heading = "everyone could read it; the live version requires a key"
		b.Remedies = []remedy{{Label: "Require a key", Do: doAccess + " " + string(herb.AccessKey)}}
	case versions.ColumnExposed, versions.FieldRefilled:
		if i := slices.IndexFunc(page.Columns, func(c review.Column) bool { return c.Field == change.Field }); i >= 0 {
			b.Remedies = []remedy{{Label: "Hide the column", Do: action(doHide, page.Columns[i].Position)}}
		}
	}
	return b
}

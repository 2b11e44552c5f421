package drafts

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/publish/review"
	"herbarium/internal/web/site"
)

const (
	paramTables = "tables" // the page of a draft shows the choice of tables
	fieldAsked  = "of-0"   // of the form of the choice: its first table
	doSelectAll = "all"    // a button of the form: all tables are selected
	doJoinAll   = "join"   // a button of the form: the selected tables are one dataset
)

// tableChoice is a table of a file, with the name of the dataset that it would become.
type tableChoice struct {
	Table, Name string
	Chosen      bool
}

// chooseTables makes the page one that shows the choice of tables instead of rows. form is what was
// sent before; nil: nothing.
func (page *reviewPage) chooseTables(form url.Values) {
	if len(page.Tables) == 0 {
		return
	}
	page.chooses, page.Rows, page.FileRows, page.Columns, page.Shown, page.Pages, page.Review.Columns = true, nil, nil,
		nil, nil, nil, nil
	if form.Has(fieldAsked) {
		page.choice = form
	}
}

// TableChoices returns the tables of the file.
func (page *reviewPage) TableChoices() (all []tableChoice) {
	names := map[string]bool{}
	for i, table := range page.Tables {
		c := tableChoice{Table: table, Name: review.NameTable(page.Draft.Ref, table)}
		for n := 2; names[c.Name] && n <= len(page.Tables)+1; n++ { // two names may be the same without accents
			c.Name = review.NameTable(page.Draft.Ref, table+" "+strconv.Itoa(n))
		}
		names[c.Name] = true
		c.Chosen = slices.Contains(page.Joined, table)
		if page.choice != nil {
			c.Name, c.Chosen = page.choice.Get("as-"+strconv.Itoa(i)), slices.Contains(page.choice["table"], table)
		}
		all = append(all, c)
	}
	return all
}

// splitDraft makes a draft of each table that the form selects.
func (p *Pages) splitDraft(w *httpapi.Page, r *http.Request) error {
	d, actor, err := p.openDraft(w, r)
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == doSelectAll {
		for i := 0; r.PostForm.Has("of-" + strconv.Itoa(i)); i++ {
			r.PostForm.Add("table", r.PostForm.Get("of-"+strconv.Itoa(i)))
		}
		return p.renderReview(w, r, d.ID, nil)
	}
	found, err := p.opts.Drafts.Review(r.Context(), d.ID, reviewWait)
	if err != nil {
		return err
	}
	if r.PostForm.Get("do") == doJoinAll {
		return p.joinTables(w, r, d, &found)
	}
	parts, err := chosenTables(&found, r.PostForm)
	for _, part := range parts {
		if err == nil {
			_, err = w.MayPublish(part.Ref)
		}
	}
	var drafts []review.Draft
	if err == nil {
		drafts, err = p.opts.Drafts.Split(r.Context(), d.ID, parts, actor)
	}
	if err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	return p.redirectDrafts(w, drafts)
}

// joinTables makes the tables that the form selects one dataset, that of the draft.
func (p *Pages) joinTables(w *httpapi.Page, r *http.Request, d review.Draft, found *review.Review) error {
	tables := []string{}
	for _, table := range found.Tables { // in the order of the file
		if slices.Contains(r.PostForm["table"], table) {
			tables = append(tables, table)
		}
	}
	if len(tables) < 2 {
		return p.rejectDraft(w, r, d, herb.Invalidf("select at least two tables that become one dataset"))
	}
	_, err := p.opts.Drafts.Edit(r.Context(), d.ID, func(e review.Edits) (review.Edits, error) {
		// Rows and columns belong to the previous table.
		return review.Edits{Tables: &tables, Encoding: e.Encoding, Link: e.Link, Refresh: e.Refresh,
			Descriptor: e.Descriptor, Title: e.Title, Description: e.Description, License: e.License,
			Expected: e.Expected, Access: e.Access, Message: e.Message}, nil
	})
	if err != nil {
		return p.rejectDraft(w, r, d, err)
	}
	return site.Redirect(w, p.draftPath(d.ID))
}

// chosenTables returns the tables that a form selects. Inputs have the number of a table, and the
// form the table that had the number.
func chosenTables(r *review.Review, form url.Values) (parts []review.TablePart, err error) {
	for i := 0; form.Has("of-" + strconv.Itoa(i)); i++ {
		table := form.Get("of-" + strconv.Itoa(i))
		if !slices.Contains(form["table"], table) {
			continue
		}
		if !slices.Contains(r.Tables, table) {
			return nil, herb.Invalidf("the file has no table %q; reload the page", herb.Clip(table, 60))
		}
		name := strings.TrimSpace(form.Get("as-" + strconv.Itoa(i)))
		if name == "" {
			return nil, herb.Invalidf("enter the name of the dataset for the table %q", herb.Clip(table, 60))
		}
		ref, err := review.NameDataset(r.Draft.Ref.Namespace, name, table)
		if err != nil {
			return nil, err
		}
		parts = append(parts, review.TablePart{Ref: ref, Table: table})
	}
	if len(parts) == 0 {
		err = herb.Invalidf("select at least one table")
	}
	return parts, err
}

package review

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/publish"
	"herbarium/internal/versions"
)

// Review returns what publishing a draft would do. The file is read in the background; if that
// takes longer than wait, the review has a Progress, and what was found before. Calling Review
// again joins the inspection.
func (s *Service) Review(ctx context.Context, id string, wait time.Duration) (Review, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return Review{}, err
	}
	live, err := s.opts.Versions.LiveVersion(ctx, r.ref())
	if err != nil {
		return Review{}, err
	}
	if f := s.known(id, r, live); f != nil {
		return s.present(id, r, live, f), nil
	}
	running, err := s.start(id, r, live)
	if err != nil {
		return Review{}, err
	}
	if running.waitFor(ctx, wait) {
		if running.err != nil {
			return Review{}, running.err
		}
		return s.present(id, r, live, running.found), nil
	}
	if ctx.Err() != nil {
		return Review{}, context.Cause(ctx)
	}
	running.mu.Lock()
	defer running.mu.Unlock()
	out := s.present(id, r, live, cmp.Or(running.shown, s.finding(id, ""), &finding{}))
	out.Progress, out.Error, out.Field, out.Problem = new(running.progress), "", "", ""
	return out, nil
}

// present makes a review from what was found.
func (s *Service) present(id string, r *storedDraft, live herb.Dataset, f *finding) Review {
	out := Review{
		Draft: r.draft(id), Tables: f.tables, Encodings: f.encodings, Encoding: cmp.Or(r.Edits.Encoding, f.encoding),
		Live: live.Version,
	}
	if f.err != nil {
		out.Error = plainMessage(herb.MessageOf(f.err))
		out.Field, out.Problem = herb.FieldOf(f.err)
		out.Problem = plainMessage(out.Problem)
	}
	p, err := s.newPlan(r, r.Edits, live)
	if err != nil {
		out.Error = cmp.Or(out.Error, plainMessage(herb.MessageOf(err)))
		return out
	}
	out.Title, out.About, out.License, out.Access = p.text("title"), p.text("description"), p.license(), p.access
	out.Expected, out.Joined = p.expected(), p.joined()
	if f.contents == nil {
		return out
	}
	d := f.contents.dataset
	out.Key, out.Format, out.Records = d.PrimaryKey, f.contents.format, d.Records
	if f.err != nil { // it was read without the settings
		out.Key = live.PrimaryKey
		if edited := r.Edits.PrimaryKey; edited != nil {
			out.Key = *edited
		}
	}
	out.Unit, out.Rows, out.LeftOut = f.contents.Unit, f.contents.shown, d.Report.Layout.LeftOut+
		len(d.Report.Layout.Dropped)
	out.LeftOut += d.Report.Excluded
	for _, x := range d.Report.Exclusions {
		out.Excluded = append(out.Excluded, ExcludedRows{x, slices.Index(f.contents.Columns, x.Column)})
	}
	out.Warnings = f.contents.warnings
	for _, table := range f.tables {
		if len(out.Joined) > 0 && !slices.Contains(out.Joined, table) {
			out.Warnings = append(slices.Clip(out.Warnings), "the table "+strconv.Quote(herb.Clip(table, maxCell))+
				" is not part of the dataset")
		}
	}
	out.Columns = slices.Clone(f.contents.columns)
	names := map[string]string{} // of fields, by their original names
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Edit = r.Edits.Columns[c.Position]
		c.Original = originalName(c.Field, f.renamed)
		if f.err != nil { // edits that do not fit are shown, so that they can be corrected
			c.showEdits()
		}
		names[c.Original] = c.Field
		c.Added = live.Version != "" && c.Field != "" && herb.FieldIndex(live.Fields, c.Field) < 0
		if c.Edit.Title != nil {
			c.Title = *c.Edit.Title
		}
	}
	if f.err != nil {
		out.Key = slices.Clone(out.Key)
		for i, name := range out.Key {
			out.Key[i] = cmp.Or(names[name], name)
		}
	}
	if f.check != nil {
		out.Key, out.Records = f.check.PrimaryKey, f.check.Records
		if f.check.InferredKey {
			out.Key, out.Unique = nil, originalName(out.Key[0], f.renamed)
		}
		isUnchanged := f.check.Status == versions.StatusUnchanged
		out.Unchanged, out.Changes = isUnchanged && !r.Edits.describes(), shownChanges(f.check.Changes)
		out.Compared = f.check.Compared
		if isUnchanged {
			out.Compared = &herb.RecordChanges{Since: live.Version, Unchanged: live.Records}
		}
	}
	return out
}

// originalName returns the name of a field without the edits of columns.
func originalName(field string, renamed map[string]string) string {
	for original, name := range renamed {
		if name == field {
			return original
		}
	}
	return field
}

// showEdits gives a column the edited name, or hides it.
func (c *Column) showEdits() {
	switch {
	case c.Edit.Hidden:
		c.Field = ""
	case c.Edit.Name != "":
		c.Field = c.Edit.Name
	}
}

// maxDescriptorWait is how long a descriptor waits for an inspection of the file.
const maxDescriptorWait = 10 * time.Second

// Descriptor returns a datapackage.json that, published with the file, gives the same listing as
// publishing the draft. The error has herb.CodeUnavailable if the file must be read before.
func (s *Service) Descriptor(ctx context.Context, id string) ([]byte, error) {
	r, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	live, err := s.opts.Versions.LiveVersion(ctx, r.ref())
	if err != nil {
		return nil, err
	}
	p, err := s.planOf(r, live, s.knownContents(id))
	if err == errUnknown { // another node may have read the file
		var running *inspection
		running, err = s.start(id, r, live)
		if err != nil {
			return nil, err
		}
		running.waitFor(ctx, maxDescriptorWait)
		p, err = s.planOf(r, live, s.knownContents(id))
	}
	if err != nil {
		return nil, err
	}
	return p.descriptor(), nil
}

// State returns the state of a publish, on any node. If it has not ended, State waits for its end,
// at most for a duration.
func (s *Service) State(ctx context.Context, id string, wait time.Duration) (publish.Publish, error) {
	p, err := s.opts.Queue.State(ctx, id, wait)
	if p.Result != nil {
		result := *p.Result
		result.Error = plainMessage(result.Error)
		p.Result = &result
	}
	return p, err
}

// plainMessage returns a message without locations in a descriptor, which the publisher has not
// written.
func plainMessage(message string) string {
	return strings.NewReplacer("resources[0].", "", "resources[0]", "the descriptor").Replace(message)
}

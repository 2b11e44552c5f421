package web_test

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// draftID identifies the draft of the fixture, which is a file for nursery/stock.
const draftID = "draft1"

// fakeDrafts has one draft, and records what the pages do with it.
type fakeDrafts struct {
	review    *review.Review // nil: there is no draft
	created   []review.Draft
	files     []string // contents of received files
	edits     []review.Edits
	published []string // live version and consent of each publish
	record    publish.Publish
	discarded []string
	rollbacks []string
	labels    []string
	removals  []string
	restored  []review.Draft
	fetched   []string
	err       error // of Edit, Publish and Rollback
}

func (f *fakeDrafts) Receive(_ context.Context, body io.Reader, name string, _ int64) (*receive.File, error) {
	content, err := io.ReadAll(body)
	f.files = append(f.files, string(content))
	return &receive.File{Name: name, Size: int64(len(content))}, err
}

func (f *fakeDrafts) LiveVersion(context.Context, herb.Ref) (herb.Dataset, error) {
	return herb.Dataset{Version: "v1"}, nil
}

func (f *fakeDrafts) MayFetch() bool { return true }

func (f *fakeDrafts) Fetch(_ context.Context, _ herb.Ref, s herb.FetchSource) (*receive.File, error) {
	f.fetched = append(f.fetched, s.Address)
	return &receive.File{Name: "prices.csv"}, herb.CheckFetchAddress(s.Address)
}

func (f *fakeDrafts) Request(_ context.Context, ref herb.Ref) error {
	f.fetched = append(f.fetched, ref.String())
	return f.err
}

func (f *fakeDrafts) States(context.Context, herb.Ref) (map[herb.Ref]fetch.State, error) {
	at := time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)
	return map[herb.Ref]fetch.State{{Namespace: "nursery", Name: "stock"}: {
		FetchSource: herb.FetchSource{Address: "https://example.org/a.csv", Refresh: "1h"}, Checked: at,
		Failing: at.AddDate(-1, 0, 0), Unsent: at.AddDate(-1, 0, 0), Failures: 3,
		Error: "the source responded with status 404 Not Found",
	}}, nil
}

func (f *fakeDrafts) MaxSize() int64 { return 2 << 30 }

func (f *fakeDrafts) Rollback(ctx context.Context, ref herb.Ref, live, version string,
	given ...herb.Consent) (string, error) {
	if f.err != nil {
		return "", f.err
	}
	words := []string{ref.String(), live, version, herb.ActorOf(ctx).ID}
	for _, c := range given {
		words = append(words, string(c))
	}
	f.rollbacks = append(f.rollbacks, strings.Join(words, " "))
	return version, nil
}

func (f *fakeDrafts) Withdraw(ctx context.Context, ref herb.Ref, version string) error {
	f.removals = append(f.removals, strings.Join([]string{ref.String(), version, herb.ActorOf(ctx).ID}, " "))
	return f.err
}

func (f *fakeDrafts) Remove(ctx context.Context, ref herb.Ref, live string) error {
	f.removals = append(f.removals, strings.Join([]string{ref.String(), "all", live, herb.ActorOf(ctx).ID}, " "))
	return f.err
}

func (f *fakeDrafts) Restore(_ context.Context, ref herb.Ref, edits review.Edits,
	actor herb.Actor) (review.Draft, error) {
	d := review.Draft{ID: draftID, Ref: ref, Owner: actor.ID, Edits: edits}
	f.restored = append(f.restored, d)
	return d, f.err
}

func (f *fakeDrafts) Label(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	return f.changeLabels(ctx, "add", ref, version, label)
}

func (f *fakeDrafts) Unlabel(ctx context.Context, ref herb.Ref, version, label string) (string, error) {
	return f.changeLabels(ctx, "remove", ref, version, label)
}

func (f *fakeDrafts) changeLabels(ctx context.Context, what string, ref herb.Ref, version,
	label string) (string, error) {
	f.labels = append(f.labels, strings.Join([]string{what, ref.String(), version, label, herb.ActorOf(ctx).ID}, " "))
	return version, f.err
}

func (f *fakeDrafts) Create(_ context.Context, ref herb.Ref, file *receive.File, edits review.Edits,
	actor herb.Actor) (review.Draft, error) {
	d := review.Draft{ID: draftID, Ref: ref, Owner: actor.ID, Name: file.Name, Size: file.Size, Edits: edits}
	f.created = append(f.created, d)
	return d, f.err
}

func (f *fakeDrafts) Split(context.Context, string, []review.TablePart, herb.Actor) ([]review.Draft, error) {
	return nil, herb.Invalidf("there are no tables")
}

func (f *fakeDrafts) Archive(context.Context, []string, io.Writer) ([]string, error) {
	return nil, herb.Invalidf("there are no files")
}

func (f *fakeDrafts) Drafts(context.Context, string) (all []review.Draft, err error) {
	if f.review != nil {
		all = append(all, f.review.Draft)
	}
	return all, nil
}

func (f *fakeDrafts) Draft(_ context.Context, id string) (review.Draft, error) {
	if f.review == nil || id != draftID {
		return review.Draft{}, herb.Errorf(herb.CodeNotFound, "no such draft")
	}
	return f.review.Draft, nil
}

func (f *fakeDrafts) Review(ctx context.Context, id string, _ time.Duration) (review.Review, error) {
	if _, err := f.Draft(ctx, id); err != nil {
		return review.Review{}, err
	}
	return *f.review, nil
}

func (f *fakeDrafts) Edit(_ context.Context, _ string, change func(review.Edits) (review.Edits, error)) (bool, error) {
	if f.err != nil {
		return false, f.err
	}
	e, err := change(f.review.Draft.Edits)
	if err != nil || e.Equal(f.review.Draft.Edits) {
		return false, err
	}
	f.edits = append(f.edits, e)
	f.review.Draft.Edits = e
	return true, nil
}

func (f *fakeDrafts) Descriptor(context.Context, string) ([]byte, error) {
	return []byte(`{"name": "nursery"}`), nil
}

func (f *fakeDrafts) Publish(_ context.Context, _ string, given versions.PublishOptions, live string,
	actor herb.Actor) (string, error) {
	words := []string{live, actor.ID}
	for _, c := range given.Consents {
		words = append(words, string(c))
	}
	f.published = append(f.published, strings.Join(words, " "))
	return "publish1", f.err
}

func (f *fakeDrafts) State(_ context.Context, id string, _ time.Duration) (publish.Publish, error) {
	if id != "publish1" {
		return publish.Publish{}, herb.Errorf(herb.CodeNotFound, "no such publish")
	}
	return f.record, nil
}

func (f *fakeDrafts) Discard(_ context.Context, id string) error {
	f.discarded, f.review = append(f.discarded, id), nil
	return nil
}

// publishingSite is a site whose visitors may publish, with a draft.
type publishingSite struct {
	*site
	*fakeDrafts
}

func newPublishingSite(t testing.TB) *publishingSite {
	t.Helper()
	f := &fakeDrafts{review: stockReview()}
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		o.Files, o.Drafts, o.Versions, o.Publisher, o.Fetches = f, f, f, f, f
		d, records := garden()
		d.Ref = herb.Ref{Namespace: "nursery", Name: "stock"}
		l.Put(d, records)
		older := d
		older.Report, older.Access = &herb.Report{Format: "older csv"}, herb.AccessKey // visitors do not see its report
		kept := l.View(d.Ref).Dataset
		kept.Settings = &herb.Settings{Kept: &herb.Kept{Name: "stock.csv"}}
		l.Histories[d.Ref] = []versions.Version{{Dataset: kept, Live: true}}
		keep(l, older, "v0", records[:5])
	})
	return &publishingSite{s, f}
}

// as returns the headers of a visitor with a key.
func as(key string) []string { return []string{"Cookie", "herbarium_key=" + key} }

// stockReview returns the review of a price list with a title, a footnote and a price in words.
func stockReview() *review.Review {
	r := &review.Review{
		Draft: review.Draft{
			ID: draftID, Ref: herb.Ref{Namespace: "nursery", Name: "stock"}, Owner: "sells00000",
			Name: "autumn-2026.xlsx", Size: 512_000,
			Created: time.Now().Add(-5 * time.Minute),
		},
		Live: "v1", Title: "What we sell", License: "CC-BY-4.0", Access: herb.AccessOpen, Key: []string{"code"},
		Format:  "xlsx, sheet Prices",
		Records: 4812, Unit: "row", LeftOut: 3,
		Warnings: []string{"3 values of sold_since are missing"},
		Changes: []versions.Change{
			{Kind: versions.TypeChanged, Field: "price", Breaking: true,
				Message: `field "price" is a text instead of a number`},
			{Kind: versions.FieldAdded, Field: "weight", Message: `field "weight" is added, a number`},
		},
		Compared: &herb.RecordChanges{Added: 1204, Removed: 12, Changed: 38, Unchanged: 3570,
			Fields: []herb.FieldChange{{Field: "price", Records: 35}, {Field: "where", Records: 4}}},
	}
	names := []string{"Code", "Name", "Sold since", "Price", "Where", "Weight"}
	for i, c := range []review.Column{
		{Field: "code", Type: herb.TypeText, Evidence: "4,812 of 4,812 · leading zeros"},
		{Field: "name", Type: herb.TypeText, Evidence: "4,812 of 4,812"},
		{Field: "sold_since", Type: herb.TypeDate, Evidence: "31.12.2024 · 4,809 of 4,809, 3 missing"},
		{Field: "price", Type: herb.TypeText, Evidence: "decimal comma, € · 4,806 of 4,812", Almost: herb.TypeNumber,
			Others: []review.Exception{{Value: "on request", Count: 6, Row: 7}}, Rest: 6},
		{Field: "where", Type: herb.TypeList, Evidence: "38 elements"},
		{Field: "weight", Type: herb.TypeNumber, Evidence: "new column", Added: true},
	} {
		c.Position, c.Source = i, names[i]
		r.Columns = append(r.Columns, c)
	}
	r.Rows = []review.Row{
		{Kind: review.RowLeftOut, Number: 1, Reason: "title",
			Text: "Price list of the nursery on the hill, autumn 2026"},
		{Kind: review.RowLeftOut, Number: 2, Reason: "empty"},
		{Kind: review.RowHeader, Number: 3, Cells: names},
	}
	for i, line := range []string{
		"00041|Dog rose|01.03.2021|8,50 €|sun,hedge|1.2", "00042|Lady fern|15.09.2022|6,00 €|shade,pots|0.4",
		"00043|Hazel|02.11.2020|14,90 €|sun,hedge|3.0",
		"00044|Wood anemone|20.04.2023|on request|shade|0.1", "00045|Field maple|12.10.2019|19,80 €|sun,hedge|4.1",
		"00046|Spindle||11,20 €|sun,shade|1.9",
		"00047|Guelder rose|07.02.2024|12,40 €|shade,wet|2.2",
	} {
		row := review.Row{Kind: review.RowRecord, Number: 4 + i, Cells: strings.Split(line, "|")}
		if i == 3 {
			row.Marked = []bool{false, false, false, true, false, false}
		}
		r.Rows = append(r.Rows, row)
	}
	r.Rows = append(r.Rows,
		review.Row{Kind: review.RowGap, Count: 4804},
		review.Row{Kind: review.RowRecord, Number: 4815,
			Cells: strings.Split("04852|Yew|30.09.2018|24,00 €|shade,hedge|5.5", "|")},
		review.Row{Kind: review.RowLeftOut, Number: 4816, Reason: "empty"},
		review.Row{Kind: review.RowLeftOut, Number: 4817, Reason: "footnote",
			Text: "Prices include tax. Printed 14 Nov 2026."})
	return r
}

// ended returns the record of a publish of nursery/stock that has ended.
func ended(code herb.Code, status versions.Status, message string) publish.Publish {
	r := publish.Publish{ID: "publish1", Dataset: "nursery/stock"}
	r.Code, r.Result = code, &versions.Result{Dataset: "nursery/stock", Status: status, Error: message}
	if code == "" {
		r.Result.Version, r.Result.Replaces = "v1", "v0"
	}
	return r
}

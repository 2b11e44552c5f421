package listtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// Lister is an engine, opened on a dataset.
type Lister interface {
	List(ctx context.Context, r *query.Request) (query.Page, error)
}

// answer is what a client would see.
type answer struct {
	Meta    query.Meta
	Records []herb.Record
}

// ask lists and decodes what came.
func ask(ctx context.Context, l Lister, d *decoder, r *query.Request) (answer, error) {
	page, err := l.List(ctx, r)
	if err != nil {
		return answer{}, fmt.Errorf("listing: %w", err)
	}
	a := answer{Meta: r.Meta(page.Total)}
	for i, b := range page.Records {
		rec, err := d.decode(b)
		if err != nil {
			return answer{}, fmt.Errorf("record %d of the page: %w in %q", i, err, b)
		}
		a.Records = append(a.Records, rec)
	}
	return a, nil
}

// agree compares an engine's answer with the oracle's.
func agree(ctx context.Context, l Lister, o *Oracle, r *query.Request) error {
	got, err := ask(ctx, l, &o.decoder, r)
	if err != nil {
		return err
	}
	records, total := o.Find(r)
	return answer{Meta: metaOf(r, total), Records: records}.differs(got)
}

// differs returns nil if got is the same answer.
func (a answer) differs(got answer) error {
	if a.Meta == got.Meta && slices.EqualFunc(a.Records, got.Records, slices.Equal[herb.Record]) {
		return nil
	}
	diff := cmp.Diff(a, got, cmpopts.EquateEmpty())
	const most = 4000 // values may be very long
	if len(diff) > most {
		diff = strings.ToValidUTF8(diff[:most], "") + "…"
	}
	return fmt.Errorf("the answer differs (-want +got):\n%s", diff)
}

// decoder decodes the records of a dataset. It remembers what it has read: the same records come again and again.
type decoder struct {
	fields []herb.Field
	known  sync.Map // JSON → herb.Record
}

func (d *decoder) decode(b []byte) (herb.Record, error) {
	if rec, ok := d.known.Load(string(b)); ok {
		return rec.(herb.Record), nil
	}
	rec, err := decode(d.fields, b)
	if err == nil {
		d.known.Store(string(b), rec)
	}
	return rec, err
}

// decode reads a record as it must be rendered: a JSON object with the fields in their order, all values strings, and
// nothing behind it.
func decode(fields []herb.Field, b []byte) (herb.Record, error) {
	if !utf8.Valid(b) {
		return nil, errors.New("invalid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	expect := func(want json.Token) error {
		got, err := d.Token()
		if err == nil && got != want {
			err = fmt.Errorf("%v stands where %v must", got, want)
		}
		return err
	}
	if err := expect(json.Delim('{')); err != nil {
		return nil, err
	}
	rec := make(herb.Record, len(fields))
	for i, f := range fields {
		if err := expect(f.Name); err != nil {
			return nil, err
		}
		value, err := d.Token()
		if err != nil {
			return nil, err
		}
		s, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("the value of %q is not a string", f.Name)
		}
		rec[i] = s
	}
	if err := expect(json.Delim('}')); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something stands behind the object")
	}
	return rec, nil
}

// describe writes a dataset compactly for a report: a line of fields with their types and flags (s, f and o for
// searchable, filterable and sortable), then a line for each record.
func describe(fields []herb.Field, records []herb.Record) string {
	var b strings.Builder
	b.WriteString("fields:")
	for _, f := range fields {
		fmt.Fprintf(&b, " %q:%s:", f.Name, f.Type)
		for _, flag := range []struct {
			set    bool
			letter byte
		}{{f.Searchable, 's'}, {f.Filterable, 'f'}, {f.Sortable, 'o'}} {
			if flag.set {
				b.WriteByte(flag.letter)
			}
		}
		if f.Weight > 0 {
			fmt.Fprintf(&b, "×%d", f.Weight)
		}
	}
	fmt.Fprintf(&b, "\n%d records:\n", len(records))
	const most = 100
	for i, rec := range records {
		if i == most {
			fmt.Fprintf(&b, "… and %d more\n", len(records)-most)
			break
		}
		fmt.Fprintf(&b, "%3d %.300q\n", i, []string(rec))
	}
	return b.String()
}

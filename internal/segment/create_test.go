package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/segment"
	"herbarium/internal/segment/segmenttest"
)

// content returns the names in a directory.
func content(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// during yields records and calls f before the record with the given number. An error of f ends the
// sequence.
func during(records []herb.Record, at int, f func() error) iter.Seq2[herb.Record, error] {
	return func(yield func(herb.Record, error) bool) {
		for i, r := range records {
			if i == at {
				if err := f(); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// manyFields returns text fields and records for them.
func manyFields(n, records int) ([]herb.Field, []herb.Record) {
	fields := make([]herb.Field, n)
	for i := range fields {
		fields[i] = herb.Field{
			Name: fmt.Sprintf("field%d", i), Type: herb.TypeText, Searchable: i%2 == 0, Filterable: true,
			Sortable: true,
		}
	}
	out := make([]herb.Record, records)
	for i := range out {
		for j := range fields {
			out[i] = append(out[i], fmt.Sprintf("rose %d", i*j%7))
		}
	}
	return fields, out
}

// longValues returns values that are too long for fewValues, so that each one is sorted by its own
// key.
func longValues() []herb.Record {
	long := herb.Record{strings.Repeat("rose ", 100), strings.Repeat("9", 500), "", strings.Repeat("oak,", 100)}
	return append(append(fewRecords(), manyRecords(1500)...), long)
}

// TestCreate_canceled cancels a build at many points. It must return the cause of ctx and leave
// nothing behind.
func TestCreate_canceled(t *testing.T) {
	t.Parallel()
	records := manyRecords(3000)
	wide, wideRecords := manyFields(40, 20)
	reason := errors.New("enough")
	for _, phase := range []string{"reading", "sorting"} {
		for done := range 5 {
			t.Run(fmt.Sprintf("%s %d", phase, done), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				seen := 0
				stop := func(p segment.Progress) {
					if p.Phase != phase {
						return
					}
					if seen == done {
						cancel(reason)
					}
					seen++
				}
				fields, data := everyType(), records
				if phase != "reading" {
					fields, data = wide, wideRecords
				}
				_, err := segment.Create(ctx, filepath.Join(dir, "x.seg"), fields, sequence(data),
					segment.Options{Progress: stop})
				if seen <= done {
					t.Fatalf("there was no such moment: the phase was told %d times", seen)
				}
				if !errors.Is(err, reason) && !errors.Is(err, context.Canceled) {
					t.Errorf("the error is %v", err)
				}
				if left := content(t, dir); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// TestCreate_canceledBySource cancels ctx while records are being read: the build must not succeed
// without the unread ones.
func TestCreate_canceledBySource(t *testing.T) {
	t.Parallel()
	records := manyRecords(6000)
	for name, fields := range map[string][]herb.Field{"fields": everyType(), "no fields": nil} {
		for _, at := range []int{0, 1, 511, 512, 3000, 5999} {
			t.Run(fmt.Sprintf("%s, %d", name, at), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				ctx, cancel := context.WithCancel(t.Context())
				source := during(records, at, func() error { cancel(); return nil })
				n, err := segment.Create(ctx, filepath.Join(dir, "x.seg"), fields, source, segment.Options{})
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%d records, %v", n, err)
				}
				if left := content(t, dir); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

func TestCreate_fails(t *testing.T) {
	t.Parallel()
	records := manyRecords(2000)
	reason := errors.New("line 7 is unreadable")
	tests := map[string]struct {
		source iter.Seq2[herb.Record, error]
		check  func(error) bool
	}{
		"source at once": {during(records, 0, func() error { return reason }),
			func(err error) bool { return errors.Is(err, reason) }},
		"source in between": {during(records, 1100, func() error { return reason }),
			func(err error) bool { return errors.Is(err, reason) }},
		"source at the end": {during(records, 1999, func() error { return reason }),
			func(err error) bool { return errors.Is(err, reason) }},
		"value of another type": {
			sequence([]herb.Record{{"a", "1", "", ""}, {"b", "1x5", "", ""}}),
			func(err error) bool {
				return herb.CodeOf(err) == herb.CodeOf(herb.Invalidf("")) &&
					strings.Contains(err.Error(), `"number"`) && strings.Contains(err.Error(), `"1x5"`)
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			n, err := segment.Create(t.Context(), filepath.Join(dir, "x.seg"), everyType(), test.source,
				segment.Options{})
			if n != 0 || !test.check(err) {
				t.Errorf("%d records, %v", n, err)
			}
			if left := content(t, dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestCreate_existing checks that a successful build replaces an existing file and a failed one
// keeps it.
func TestCreate_existing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.seg")
	before := []byte("what was here before")
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	failing := during(fewRecords(), 3, func() error { return fs.ErrInvalid })
	if _, err := segment.Create(t.Context(), path, everyType(), failing, segment.Options{}); !errors.Is(err,
		fs.ErrInvalid) {
		t.Errorf("Create: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, before) {
		t.Errorf("after a build that failed: %q, %v", b, err)
	}
	if _, err := segment.Create(t.Context(), path, everyType(), sequence(fewRecords()), segment.Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := segment.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Verify(), r.Release()); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff([]string{"x.seg"}, content(t, dir)); d != "" {
		t.Errorf("the folder (-want +got):\n%s", d)
	}
}

// TestCreate_otherBuild checks that the files of another build, finished or not, are not touched.
func TestCreate_otherBuild(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.seg")
	if err := os.Mkdir(path+segment.PartSuffix, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path+segment.PartSuffix, "work"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := segment.Create(t.Context(), path, everyType(), sequence(fewRecords()), segment.Options{})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create: %v", err)
	}
	if d := cmp.Diff([]string{"work"}, content(t, path+segment.PartSuffix)); d != "" {
		t.Errorf("what another build wrote (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"x.seg" + segment.PartSuffix}, content(t, dir)); d != "" {
		t.Errorf("the folder (-want +got):\n%s", d)
	}
}

// TestCreate_unwritableTarget checks that a build to a target that cannot be written leaves nothing
// behind.
func TestCreate_unwritableTarget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder", "absent/x.seg"} {
		path := filepath.Join(dir, name)
		if _, err := segment.Create(t.Context(), path, everyType(), sequence(fewRecords()),
			segment.Options{}); err == nil {
			t.Errorf("%s: Create succeeded", name)
		}
	}
	if d := cmp.Diff([]string{"folder"}, content(t, dir)); d != "" {
		t.Errorf("the folder (-want +got):\n%s", d)
	}
}

func TestCreate_progress(t *testing.T) {
	t.Parallel()
	records := manyRecords(3000)
	var told []segment.Progress
	note := func(p segment.Progress) { told = append(told, p) }
	path := filepath.Join(t.TempDir(), "x.seg")
	if _, err := segment.Create(t.Context(), path, everyType(), sequence(records),
		segment.Options{Progress: note}); err != nil {
		t.Fatal(err)
	}
	last := map[string]segment.Progress{}
	for i, p := range told {
		if i > 0 && told[i-1].Phase != p.Phase && last[p.Phase].Phase != "" {
			t.Errorf("%v comes again after %v", p, told[i-1])
		}
		if before, ok := last[p.Phase]; ok && p.Done <= before.Done || p.Total > 0 && p.Done > p.Total {
			t.Errorf("%v follows %v", p, last[p.Phase])
		}
		last[p.Phase] = p
	}
	if last["reading"].Done != len(records) {
		t.Errorf("of %d records, %d were read at last", len(records), last["reading"].Done)
	}
	if p := last["sorting"]; p.Done != len(everyType())+1 || p.Total != p.Done {
		t.Errorf("of %d fields and the words, the last that was sorted was %v", len(everyType()), p)
	}
}

// TestCreate_shapes compares listings of segments of unusual shapes with the oracle.
func TestCreate_shapes(t *testing.T) {
	t.Parallel()
	wide, wideRecords := manyFields(300, 9)
	var controls strings.Builder
	for c := range rune(0x20) {
		fmt.Fprintf(&controls, "%c rose %c", c, c+0x80)
	}
	controls.WriteString("\x7f\u2028\u2029\ufeff\ufffd</script>\\\"")
	text := func(values ...string) (records []herb.Record) {
		for _, v := range values {
			records = append(records, herb.Record{v, "", "", v})
		}
		return records
	}
	each := make([]string, 0, 0x20)
	for c := range rune(0x20) {
		each = append(each, string(c))
	}
	tests := map[string]struct {
		fields  []herb.Field
		records []herb.Record
	}{
		"nothing at all":         {nil, nil},
		"no records":             {everyType(), nil},
		"no fields":              {nil, make([]herb.Record, 5)},
		"one record":             {everyType(), fewRecords()[:1]},
		"empty values":           {everyType(), []herb.Record{{"", "", "", ""}, {"", "", "", ""}}},
		"a record of over 1 MiB": {everyType(), text("rose", strings.Repeat("fern rose \"oak\" ", 1<<19/14), "soft")},
		"long values":            {everyType(), longValues()},
		"300 fields":             {wide, wideRecords},
		"control characters":     {everyType(), text(append(each, controls.String(), "rose")...)},
		"one value many times":   {everyType(), text(strings.Split(strings.Repeat("rose ", 4100), " ")...)},
		"a word many times": {everyType(), text(strings.Repeat("rose ", 254), strings.Repeat("rose ", 255),
			strings.Repeat("rose ", 999))},
		"numbers of records % 32": {everyType(), manyRecords(65)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := openBuilt(t, test.fields, test.records, segment.Options{})
			if d := cmp.Diff(test.fields, r.Fields()); d != "" && len(test.fields) > 0 {
				t.Errorf("fields (-want +got):\n%s", d)
			}
			if r.Len() != len(test.records) {
				t.Errorf("%d of %d records", r.Len(), len(test.records))
			}
			oracle := segmenttest.NewOracle(test.fields, test.records)
			asked := requests(test.fields[:min(len(test.fields), 4)])
			for _, raw := range []string{"", "search=rose"} {
				q, err := query.Parse(raw, test.fields)
				if err != nil {
					t.Fatal(err)
				}
				asked = append(asked, q)
			}
			for _, q := range asked {
				want, total := oracle.Find(q)
				page, err := r.List(t.Context(), q)
				if err != nil {
					t.Errorf("listing %+v: %v", q, err)
					continue
				}
				got := decoded(t, test.fields, page.Records)
				if page.Total != total || !slices.EqualFunc(got, want, slices.Equal[herb.Record]) {
					t.Errorf("listing %+v: %d in all, want %d\n%.300q\nwant\n%.300q", q, page.Total, total, got, want)
				}
			}
		})
	}
}

// TestCreate_sameBytesWithAnyMemory checks that repeated builds, also with so little memory that
// everything is spilled, produce identical bytes.
func TestCreate_sameBytesWithAnyMemory(t *testing.T) {
	t.Parallel()
	wide, wideRecords := manyFields(40, 20)
	tests := map[string]struct {
		fields  []herb.Field
		records []herb.Record
	}{
		"few":         {everyType(), fewRecords()},
		"many":        {everyType(), append(fewRecords(), manyRecords(2500)...)},
		"long values": {everyType(), longValues()},
		"wide":        {wide, wideRecords},
		"no records":  {everyType(), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := fileOf(t, test.fields, test.records, segment.Options{})
			for _, memory := range []int{0, 512, 1 << 14} {
				again := fileOf(t, test.fields, test.records, segment.Options{Memory: memory})
				if !bytes.Equal(first, again) {
					at := 0
					for at < min(len(first), len(again)) && first[at] == again[at] {
						at++
					}
					t.Errorf("with memory %d it has %d bytes instead of %d and differs from byte %d on", memory,
						len(again), len(first), at)
				}
			}
		})
	}
}

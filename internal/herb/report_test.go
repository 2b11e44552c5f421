package herb_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/must"
)

// TestReport_ForReaders fills every text of a report with its path: readers get those of an allow
// list.
func TestReport_ForReaders(t *testing.T) {
	t.Parallel()
	var r herb.Report
	fillTexts(reflect.ValueOf(&r).Elem(), "")
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	must.NoError(t, encoder.Encode(r.ForReaders()))
	var got []string
	for _, part := range strings.Split(b.String(), "<")[1:] {
		got = append(got, part[:strings.IndexByte(part, '>')])
	}
	slices.Sort(got)
	allowed := []string{
		".Cells", ".Columns.Column", ".Columns.Evidence", ".Columns.Exceptions.Value", ".Columns.Field", ".Columns.Max",
		".Columns.Min",
		".Columns.Notes",
		".Columns.Type", ".Columns.Words.Value", ".Format", ".Layout.Doubt", ".Layout.Rows.Reason", ".Layout.Unit",
	}
	got = slices.DeleteFunc(got, func(path string) bool {
		return strings.HasPrefix(path, ".Coordinates.")
	})
	if !slices.Equal(got, allowed) {
		t.Errorf("readers get\n%q\ninstead of\n%q", got, allowed)
	}
	if seen := r.ForReaders(); seen.HiddenColumns != 1 || seen.ForReaders().HiddenColumns != 1 {
		t.Errorf("%d hidden columns", seen.HiddenColumns)
	}
}

// fillTexts sets every text below a value to its path, with one element in every list.
func fillTexts(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("<" + path + ">")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillTexts(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillTexts(v.Index(0), path)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Anonymous {
				fillTexts(v.Field(i), path)
			} else {
				fillTexts(v.Field(i), path+"."+f.Name)
			}
		}
	}
}

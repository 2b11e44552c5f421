package fulltext_test

import (
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/segment/internal/build"
	"herbarium/internal/segment/internal/buildtest"
	"herbarium/internal/segment/internal/guard"
)

// TestNearest finds words of which others may be typos.
func TestNearest(t *testing.T) {
	t.Parallel()
	records := []herb.Record{
		{"Philadelphia rose", "2024 oak"}, {"Germany rose", "Ösel"}, {"Germane rosa", "2025"}, {"Germane", ""},
		{"rose ab12c", "植物 пион"},
	}
	index := openRecords(t, records, build.Options{Indexes: buildtest.AllIndexes()})
	for _, tt := range []struct {
		word     string
		isPrefix bool
		want     string
		records  int
	}{
		{word: "rosw", want: "rose", records: 3},
		{word: "roes", want: "rose", records: 3},
		{word: "rose"},                                 // exists
		{word: "germen", want: "germane", records: 2},  // of two as close, the one in more records
		{word: "germayn", want: "germany", records: 1}, // a transposition
		{word: "philedelphia", want: "philadelphia", records: 1},
		{word: "phileda", isPrefix: true, want: "philadelphia", records: 1},
		{word: "phil", isPrefix: true}, // words begin with it
		{word: "phil"},
		{word: "2026"},                   // a number is no typo
		{word: "ab12d"}, {word: "rose1"}, // nor is a code
		{word: "abc"},  // of a code
		{word: "паан"}, // two edits
		{word: "рион", want: "пион", records: 1}, // letters of two bytes
		{word: "osle", want: "osel", records: 1},
		{word: "x"}, {word: ""}, {word: "植"},
	} {
		got, ok := index.Nearest(guard.NewSteps(t.Context()), tt.word, tt.isPrefix)
		if got.Word != tt.want || got.Records != tt.records || ok != (tt.want != "") {
			t.Errorf("%q (prefix: %t): %+v, want %q in %d records", tt.word, tt.isPrefix, got, tt.want, tt.records)
		}
	}
}

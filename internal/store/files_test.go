package store_test

import (
	"strings"
	"testing"

	"herbarium/internal/store"
)

// Every name of a file of a version is parsed as the file that it names, and garbage collection of
// earlier releases leaves derived files alone.
func TestParseVersionFile(t *testing.T) {
	t.Parallel()
	const version = "20260314T092653Z-k7q2mzx4ab"
	for name, want := range map[string]store.VersionFile{
		version + ".segment":                 {Version: version, Kind: store.SegmentKind},
		version + ".f4-r1.rebuilt":           {Version: version, Kind: store.RebuiltKind, Index: "f4-r1"},
		version + ".f4-r1.segment":           {Version: version, Kind: store.FormerRebuiltKind, Index: "f4-r1"},
		version + ".f4-r1-p1-text.parquet":   {Version: version, Kind: store.ParquetKind, Index: "f4-r1-p1-text"},
		version + ".source":                  {Version: version, Kind: store.SourceKind},
		version + ".description":             {Version: version, Kind: store.DescriptionKind},
		version + ".segment.part":            {Version: version, Kind: store.PartialKind},
		version + ".f4-r1.rebuilt.ABC.tmp":   {Version: version, Kind: store.PartialKind},
		version + ".f4-r1-p1.parquet.X.part": {Version: version, Kind: store.PartialKind},
		"sort-ABC.part":                      {Version: "sort-ABC", Kind: store.PartialKind},
	} {
		got, ok := store.ParseVersionFile(name)
		if !ok || got != want {
			t.Errorf("%s: %+v, %t; want %+v", name, got, ok, want)
		}
		if want.Kind != store.PartialKind && want.Name() != name {
			t.Errorf("%+v: name %s; want %s", want, want.Name(), name)
		}
		if want.Kind == store.RebuiltKind || want.Kind == store.ParquetKind {
			for _, swept := range []string{".segment", ".source", ".draft", ".description", ".part", ".tmp"} {
				if strings.HasSuffix(name, swept) {
					t.Errorf("releases up to 0.9.0 remove %s", name)
				}
			}
		}
	}
	for _, name := range []string{"changed", "catalogue.json", "notes.txt", version, version + ".rebuilt",
		version + ".x.source", "id.draft"} {
		if f, ok := store.ParseVersionFile(name); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

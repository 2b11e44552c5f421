package migrate

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/store"
)

// damageCase damages a file of a version of a garden.
type damageCase struct {
	name    string
	ref     herb.Ref
	version int // in order of publishing
	file    func(version string) string
	damage  func(path string) error
	omitted Omitted
	reason  string // in a source
	backup  string // in a backup
}

func damageCases() []damageCase {
	cut := func(path string) error { return os.Truncate(path, 20) }
	change := func(path string) error {
		b, err := os.ReadFile(path)
		if err == nil {
			b[len(b)/2] ^= 1
			err = os.WriteFile(path, b, 0o600)
		}
		return err
	}
	otherSource := func(path string) error {
		var b bytes.Buffer
		w, err := store.NewSourceWriter(&b)
		if err == nil {
			_, err = io.WriteString(w, "changed")
		}
		return errors.Join(err, w.Close(), os.WriteFile(path, b.Bytes(), 0o600))
	}
	const missing, incomplete, damaged = "the source has no such file", "the backup is incomplete: the file is missing",
		"the backup is damaged: got"
	return []damageCase{
		{"missing segment of a kept version", trees, 0, store.SegmentFile, os.Remove, OmittedVersion, missing,
			incomplete},
		{"missing segment of the newest version", trees, 2, store.SegmentFile, os.Remove, OmittedVersion, missing,
			incomplete},
		{"missing segment of the live version", trees, 1, store.SegmentFile, os.Remove, OmittedDataset, missing,
			incomplete},
		{"cut segment of a kept version", trees, 0, store.SegmentFile, cut, OmittedVersion, "damaged|cut off", damaged},
		{"cut segment of the live version", trees, 1, store.SegmentFile, cut, OmittedDataset,
			"damaged|cut off", damaged},
		{"changed segment of the live version", herbs, 0, store.SegmentFile, change, OmittedDataset,
			"damaged", damaged},
		{"missing source", herbs, 0, store.SourceFile, os.Remove, OmittedDataset, missing, incomplete},
		{"cut source", herbs, 0, store.SourceFile, cut, OmittedDataset, "cannot be decompressed",
			"cannot be decompressed"},
		{"changed source", herbs, 0, store.SourceFile, otherSource, OmittedDataset, "the file is damaged: got 7 bytes",
			"the backup is damaged: got 7 bytes"},
	}
}

// apply damages the file in a folder and returns what must be skipped.
func (c damageCase) apply(t *testing.T, g *garden, folder string) []Skipped {
	t.Helper()
	version := ""
	for _, d := range contentOf(t, g.Place).datasets {
		if d.Ref == c.ref {
			version = d.Versions[c.version].Version
		}
	}
	must.NoError(t, c.damage(filepath.Join(folder, c.file(version))))
	return []Skipped{{c.ref.String(), version, c.omitted, c.reason}}
}

// wantSkipped compares what was skipped. Reasons contain one of the wanted texts, separated by |.
func wantSkipped(t *testing.T, what string, want, got []Skipped) {
	t.Helper()
	contains := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".Reason" },
		gocmp.Comparer(func(a, b string) bool {
			contains := func(text, parts string) bool {
				for part := range strings.SplitSeq(parts, "|") {
					if strings.Contains(text, part) {
						return true
					}
				}
				return false
			}
			return contains(a, b) || contains(b, a)
		}))
	if diff := gocmp.Diff(want, got, contains, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: skipped (-want +got):\n%s", what, diff)
	}
}

// wantRest checks that a place has everything of a garden but what was skipped, and that it can be
// served.
func wantRest(t *testing.T, g *garden, skipped []Skipped, to Place) {
	t.Helper()
	want := contentOf(t, g.Place)
	var datasets []store.DatasetVersions
	for _, d := range want.datasets {
		left := false
		for _, s := range skipped {
			if s.Dataset != d.Ref.String() {
				continue
			}
			left = left || s.Omitted == OmittedDataset
			for i := 0; i < len(d.Versions); i++ {
				switch v := &d.Versions[i]; {
				case v.Version != s.Version:
				case s.Omitted == OmittedVersion:
					d.Versions = append(d.Versions[:i:i], d.Versions[i+1:]...)
					i--
				}
			}
		}
		if !left {
			datasets = append(datasets, d)
		}
	}
	want.datasets = datasets
	portableTitles := gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".Title" },
		gocmp.Comparer(func(a, b string) bool {
			return portable(a) == portable(b)
		}))
	got := contentOf(t, to)
	options := []gocmp.Option{
		gocmp.AllowUnexported(content{}), cmpopts.IgnoreFields(herb.Details{}, "File"), cmpopts.EquateEmpty(),
		portableTitles,
		cmpopts.IgnoreFields(herb.Key{}, "Name"), cmpopts.EquateApproxTime(time.Millisecond),
		cmpopts.SortSlices(func(a, b herb.Key) bool { return a.ID < b.ID }),
	}
	if diff := gocmp.Diff(want, got, options...); diff != "" {
		t.Errorf("the rest (-want +got):\n%s", diff)
	}
	g.works(t, to)
	to.use(t, func(d *app.Data) {
		for _, ds := range datasets {
			view, err := d.Library.Acquire(t.Context(), ds.Ref)
			must.NoError(t, err)
			view.Release()
		}
	})
}

// TestOmissions migrates and backs up an installation with a damaged file: it is named, and
// everything else is copied.
func TestOmissions(t *testing.T) {
	t.Parallel()
	for kind, source := range map[string]func(t *testing.T, g *garden) (from Place, files string){
		"folder": func(_ *testing.T, g *garden) (Place, string) {
			return g.Place, filepath.Join(g.Folder, store.VersionsDir)
		},
		"cluster": func(t *testing.T, g *garden) (Place, string) {
			from := newCluster(t)
			mustMigrate(t, g.Place, from, Options{})
			return from, strings.TrimPrefix(string(from.Blobs), "file://")
		},
	} {
		for i, tt := range damageCases() {
			if kind == "cluster" && i%3 > 0 {
				continue // three cases suffice
			}
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				g := newGarden(t, 5)
				from, files := source(t, g)
				skipped := tt.apply(t, g, files)
				migrated, unpacked, folder := Place{Folder: t.TempDir()}, Place{Folder: t.TempDir()}, t.TempDir()
				for _, check := range []bool{false, true} {
					m := mustMigrate(t, from, migrated, Options{Check: check})
					wantSkipped(t, fmt.Sprintf("migrate, check=%t", check), skipped, m.Skipped)
				}
				wantRest(t, g, skipped, migrated)

				var archive bytes.Buffer
				made, err := Backup(t.Context(), from, StandardStream, &archive, "test", Options{})
				must.NoError(t, err)
				wantSkipped(t, "backup", skipped, made.Skipped)
				r, err := restore(t.Context(), archive.Bytes(), unpacked, Options{})
				must.NoError(t, err)
				wantSkipped(t, "restore", nil, r.Skipped) // the backup has all that it names
				wantRest(t, g, skipped, unpacked)

				made, err = Backup(t.Context(), from, folder+"/", nil, "test", Options{})
				must.NoError(t, err)
				wantSkipped(t, "backup to a folder", skipped, made.Skipped)
				checked, err := Restore(t.Context(), folder, nil, Place{}, Options{Check: true})
				must.NoError(t, err)
				wantSkipped(t, "check of the folder", nil, checked.Skipped)
			})
		}
	}
}

// TestOmissions_unavailable fails if the object store of a source does not answer, instead of
// leaving everything out.
func TestOmissions_unavailable(t *testing.T) {
	t.Parallel()
	g, from := newGarden(t, 5), newCluster(t)
	mustMigrate(t, g.Place, from, Options{})
	_, err := migrateWith(t.Context(), from, Place{Folder: t.TempDir()}, func(from, _ *Installation) {
		from.Objects = &failingObjects{from.Objects}
	})
	if !errors.Is(err, errFault) {
		t.Errorf("the error is %v", err)
	}
}

// failingObjects cannot be read.
type failingObjects struct{ Objects }

func (*failingObjects) Get(context.Context, string, io.Writer) error { return errFault }

// packed returns an archive of a backup in a folder.
func packed(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	files, err := filepath.Glob(filepath.Join(folder, segmentsDir, "*"))
	must.NoError(t, err)
	for _, f := range append(files, filepath.Join(folder, entriesFile)) {
		content, err := os.ReadFile(f)
		must.NoError(t, err)
		name, err := filepath.Rel(folder, f)
		must.NoError(t, err)
		must.NoError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name),
			Size: int64(len(content)), Mode: 0o600}))
		_, err = w.Write(content)
		must.NoError(t, err)
	}
	must.NoError(t, w.Close())
	return b.Bytes()
}

// wantRestored restores a damaged backup in all its forms, and checks that a check skips the same.
func wantRestored(t *testing.T, g *garden, folder string, skipped []Skipped) {
	t.Helper()
	archive := packed(t, folder)
	file := filepath.Join(t.TempDir(), "backup.tar")
	must.NoError(t, os.WriteFile(file, archive, 0o600))
	for i, path := range []string{folder, file, StandardStream} {
		to := Place{Folder: t.TempDir()}
		if i == 2 && skipped[0].Omitted == OmittedVersion {
			to = newCluster(t)
		}
		var results [2]Result
		for n, check := range []bool{true, false} {
			var err error
			results[n], err = Restore(t.Context(), path, bytes.NewReader(archive), to, Options{Check: check})
			must.NoError(t, err)
			wantSkipped(t, fmt.Sprintf("%s, check=%t", path, check), skipped, results[n].Skipped)
		}
		ignored := cmpopts.IgnoreFields(Result{}, "Skipped", "Hash", "NewPlants", "NewKeys", "NewFiles")
		if diff := gocmp.Diff(results[0], results[1], ignored); diff != "" {
			t.Errorf("%s (-check +restore):\n%s", path, diff)
		}
		wantRest(t, g, skipped, to)
		left, err := filepath.Glob(filepath.Join(to.Folder, store.VersionsDir, "*.s*"))
		if want := results[1].Versions + results[1].Sources; to.Folder != "" && (err != nil || len(left) != want) {
			t.Errorf("%s: files %v (%v); want %d", path, left, err, want)
		}
	}
}

// TestRestore_omissions restores a backup with a damaged file.
func TestRestore_omissions(t *testing.T) {
	t.Parallel()
	for _, tt := range damageCases() {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, folder := newGarden(t, 5), t.TempDir()
			_, err := Backup(t.Context(), g.Place, folder+"/", nil, "test", Options{})
			must.NoError(t, err)
			tt.reason = tt.backup
			wantRestored(t, g, folder, tt.apply(t, g, filepath.Join(folder, segmentsDir)))
		})
	}
}

// TestRestore_otherContent restores segments that do not fit the entries of their versions, or that
// this program cannot open, although all hashes are right.
func TestRestore_otherContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		version func(v *herb.Dataset)
		segment func(s *Segment, folder string)
		want    string
	}{
		{"another field", func(v *herb.Dataset) {
			v.Fields = append(v.Fields, herb.Field{Name: "more", Type: herb.TypeText})
		}, nil, "fields are not those"},
		{"no field", func(v *herb.Dataset) { v.Fields = nil }, nil, "fields are not those"},
		{"another name", func(v *herb.Dataset) { v.Fields[0].Name += "x" }, nil, "fields are not those"},
		{"another type", func(v *herb.Dataset) { v.Fields[0].Type = herb.TypeBoolean }, nil, "fields are not those"},
		{"another index", func(v *herb.Dataset) { v.Fields[0].Sortable = !v.Fields[0].Sortable }, nil,
			"fields are not those"},
		{"another count", func(v *herb.Dataset) { v.Records++ }, nil, "records, but its segment has"},
		{"no segment", nil, func(s *Segment, _ string) { s.Version += "x" }, "no segment for it"},
		{"a later format", nil, func(s *Segment, folder string) {
			content := []byte("a later format")
			must.NoError(t, os.WriteFile(filepath.Join(folder, s.name()), content, 0o600))
			s.File = herb.File{Size: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256(content))}
		}, "the segment is "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g, folder := newGarden(t, 5), t.TempDir()
			_, err := Backup(t.Context(), g.Place, folder+"/", nil, "test", Options{})
			must.NoError(t, err)
			live := ""
			for _, d := range contentOf(t, g.Place).datasets {
				if d.Ref == herbs {
					live = d.Live
				}
			}
			entries := &EntryFile{Path: filepath.Join(folder, entriesFile)}
			var changed bytes.Buffer
			must.NoError(t, Write(&changed, Header{Format: FormatVersion}, func(yield func(Entry, error) bool) {
				for e, err := range entries.Entries(t.Context(), time.Time{}) {
					switch e := e.(type) {
					case *Segment:
						if e.Version == live && tt.segment != nil {
							tt.segment(e, filepath.Join(folder, segmentsDir))
						}
					case *Dataset:
						if e.Ref == herbs && tt.version != nil {
							tt.version(&e.Versions[0])
						}
					}
					if !yield(e, err) {
						return
					}
				}
			}))
			must.NoError(t, os.WriteFile(entries.Path, changed.Bytes(), 0o600))
			wantRestored(t, g, folder, []Skipped{{herbs.String(), live, OmittedDataset, tt.want}})
		})
	}
}

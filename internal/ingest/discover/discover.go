// Package discover finds the datasets in files, folders and descriptors.
//
//   - A file X/Y.csv becomes the dataset x/y.
//   - A database X/Y.db with several tables becomes a dataset x/table for each, a workbook or JSON document with several
//     tables a dataset x/y-table for each. X/Y.db#table, X/Y.xlsx#sheet and X/Y.json#member select one of them.
//   - A folder stands for the files in it; each subfolder is a namespace. Files with the extension of a format are
//     published, text and archives only if they contain a table; everything else is skipped.
//   - A folder with a descriptor (datapackage.json, .yaml or .yml) stands for the resources of the descriptor.
//
// Files in a folder and paths in a descriptor must not lead out of the folder. A path that the user named may be a link.
package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/datapackage"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// Options configure a Finder.
type Options struct {
	Formats []rows.Format
	Data    string // data folder of the program, which is never published; empty: none
	// Format and Dialect apply to files without a descriptor. Empty: detected.
	Format  string
	Dialect rows.Options
	// SkipEmptyDescriptors ignores descriptors of size zero, which a shell creates for the output of describe.
	SkipEmptyDescriptors bool
}

// Finder finds sources. It remembers the tables of unchanged files from the previous search. It is used by one goroutine.
type Finder struct {
	opts     Options
	previous map[string]probe // by path
}

// New returns a Finder.
func New(o Options) *Finder { return &Finder{opts: o} }

// Discover finds the sources at paths, sorted by the names of their datasets. If two sources have the same name, neither
// is returned.
func (f *Finder) Discover(ctx context.Context, paths []string) source.Set {
	s := f.newSearch(ctx)
	for _, p := range paths {
		if p == "" {
			s.Fail(herb.Invalidf("a path is empty; name a file or a folder"))
			continue
		}
		p = filepath.Clean(p)
		s.guard(p, func() { s.path(p) })
	}
	s.rejectData()
	s.rejectClashes()
	f.previous = s.probes
	return s.Set
}

// As finds the only dataset in a file, a folder or a descriptor, and names it.
func (f *Finder) As(ctx context.Context, path string, ref herb.Ref) (source.Source, error) {
	path = filepath.Clean(path)
	if err := source.CheckReserved(path, ref); err != nil {
		return source.Source{}, err
	}
	s := f.newSearch(ctx)
	s.single = true
	s.path(path)
	s.rejectData()
	switch {
	case len(s.Errors) > 0:
		return source.Source{}, s.Err()
	case len(s.Sources) != 1:
		return source.Source{}, herb.Invalidf("%s contains %d datasets, but only one can be named %s; name a single file", path, len(s.Sources), ref)
	}
	s.Sources[0].Ref = ref
	return s.Sources[0], nil
}

// search is one search.
type search struct {
	*Finder
	source.Set
	ctx     context.Context
	data    fs.FileInfo // data folder of the program; nil: there is none
	visited map[visit]bool
	probes  map[string]probe // by path
	single  bool             // a file is one dataset, regardless of its name and tables
}

// visit is a folder under one of its names. Links can give it several; each is visited once.
type visit struct{ real, namespace string }

func (f *Finder) newSearch(ctx context.Context) *search {
	s := &search{Finder: f, ctx: ctx, visited: map[visit]bool{}, probes: map[string]probe{}}
	if info, err := os.Stat(f.opts.Data); err == nil {
		s.data = info
	}
	return s
}

// guard calls do and reports a panic as an error about a path, so that it does not affect other paths.
func (s *search) guard(path string, do func()) {
	var err error
	func() {
		defer herb.Recover(&err)
		do()
	}()
	if err != nil {
		s.Fail(fmt.Errorf("%s: %w", path, err))
	}
}

// path adds the sources at a path that the user named.
func (s *search) path(path string) {
	path, table := source.SplitLabel(path)
	info, err := os.Stat(path)
	switch {
	case s.inData(path):
		s.Fail(errDataFolder(path))
	case err != nil:
		s.Fail(file.CannotRead(path, err))
	case info.IsDir() && table != "":
		s.Fail(herb.Invalidf("%s is a folder and has no table %q; name a file, such as %s", path, rows.Clip(table), filepath.Join(path, "file.db#table")))
	case info.IsDir():
		dir, err := file.OpenDir(path)
		if err != nil {
			s.Fail(err)
			return
		}
		defer dir.Close()
		s.folder(dir, path, nil)
	case isTemporary(path):
		s.Fail(herb.Invalidf("%s is a hidden or temporary file; rename it to publish it", path))
	case !info.Mode().IsRegular():
		s.Fail(file.CannotRead(path, file.ErrNotRegular))
	case table == "" && datapackage.Detect(path, info.Size()):
		s.descriptor(file.Dir{}, path)
	default:
		s.namedFile(path, table)
	}
}

// descriptor adds the resources of a descriptor.
func (s *search) descriptor(dir file.Dir, path string) {
	s.Add(datapackage.Read(path, datapackage.Options{Dir: dir, Formats: s.opts.Formats}))
}

// folder adds the content of a folder that the user named, or that is below one. above are the real paths of the folders
// through which it was reached.
func (s *search) folder(dir file.Dir, path string, above []string) {
	abs, err := filepath.Abs(path)
	real, realErr := realPath(path)
	if err := errors.Join(err, realErr); err != nil {
		s.Fail(file.CannotRead(path, err))
		return
	}
	v := visit{real, filepath.Base(abs)}
	if s.visited[v] || slices.Contains(above, real) {
		return
	}
	s.visited[v] = true
	entries, err := dir.ReadDir(path)
	if err != nil {
		s.Fail(err)
		return
	}
	if s.opts.SkipEmptyDescriptors {
		entries = slices.DeleteFunc(entries, isEmptyDescriptor)
	}
	var descriptors []string
	for _, e := range entries {
		if datapackage.IsDescriptor(e.Name()) {
			descriptors = append(descriptors, e.Name())
		}
	}
	switch len(descriptors) {
	case 0:
		above = append(slices.Clip(above), real)
		for _, e := range entries {
			p := filepath.Join(path, e.Name())
			s.guard(p, func() { s.entry(dir, p, above) })
		}
	case 1:
		s.descriptor(dir, filepath.Join(path, descriptors[0]))
	default:
		s.Fail(herb.Invalidf("%s has more than one descriptor (%s); keep one", path, strings.Join(descriptors, ", ")))
	}
}

// entry adds an entry of a folder.
func (s *search) entry(dir file.Dir, path string, above []string) {
	if isTemporary(path) {
		return
	}
	info, err := dir.Stat(path)
	switch {
	case errors.Is(err, file.ErrEscapes), err != nil && s.isTable(path):
		s.Fail(err)
	case err != nil:
		s.Skip(path, "broken link")
	case info.IsDir() && s.isData(info):
		s.Skip(path, "data folder of the program (--data), which is never published")
	case info.IsDir():
		s.folder(dir, path, above)
	case !info.Mode().IsRegular():
		s.Skip(path, file.ErrNotRegular.Error())
	case s.inData(path): // through a link
		s.Fail(errDataFolder(path))
	default:
		s.folderFile(dir, path)
	}
}

// rejectData removes sources in the data folder, to which links in a descriptor may lead.
func (s *search) rejectData() {
	s.Sources = slices.DeleteFunc(s.Sources, func(src source.Source) bool {
		for _, path := range src.Files() {
			if s.inData(path) {
				s.Fail(errDataFolder(path))
				return true
			}
		}
		return false
	})
}

// rejectClashes sorts the sources, removes duplicates, and removes sources that have the same name.
func (s *search) rejectClashes() {
	slices.SortStableFunc(s.Sources, func(a, b source.Source) int { return a.Ref.Compare(b.Ref) })
	all := slices.CompactFunc(s.Sources, isSame)
	s.Sources = nil
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].Ref == all[i].Ref {
			s.Fail(herb.Invalidf("%s and %s would both be published as %s; rename one, or publish it with --as namespace/dataset",
				all[i].Label(), all[end].Label(), all[i].Ref))
			end++
		}
		if end == i+1 {
			s.Sources = append(s.Sources, all[i])
		}
		i = end
	}
}

// isSame reports whether two sources are one that was reached in two ways.
func isSame(a, b source.Source) bool {
	infoA, errA := os.Stat(a.Path)
	infoB, errB := os.Stat(b.Path)
	b.Path, b.Root, b.Base = a.Path, a.Root, a.Base
	return reflect.DeepEqual(a, b) && errors.Join(errA, errB) == nil && os.SameFile(infoA, infoB)
}

// isTemporary reports whether a file is hidden or was left behind by an editor.
func isTemporary(path string) bool {
	base := filepath.Base(path)
	return slices.Contains([]string{".tmp", ".swp"}, filepath.Ext(base)) || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~") || strings.HasSuffix(base, "~")
}

func isEmptyDescriptor(e fs.DirEntry) bool {
	info, err := e.Info()
	return datapackage.IsDescriptor(e.Name()) && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// Package discover finds sources in files, folders, archives and descriptors. It decides which
// files and tables become datasets, and reads no more of them than that takes. Most sources have no
// descriptor, so it is apart from package descriptor.
package discover

import (
	"cmp"
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
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// Options configures a Finder.
type Options struct {
	Formats []rows.Format
	Data    string             // data folder of the program, which is never published; empty: none
	Reading descriptor.Reading // of files without a descriptor
	// SkipEmptyDescriptors ignores descriptors of size zero, which a shell creates for the output
	// of describe.
	SkipEmptyDescriptors bool
	TableParameter       string // parameter that names a table of an input; empty: there is none
}

// Finder finds the sources in files, folders and descriptors. It remembers the tables of unchanged
// files from the previous search. It is used by one goroutine.
//
//   - A file X/Y.csv becomes the dataset x/y. Of a file with several tables, each becomes a
//     dataset; X/Y.db#table selects one.
//   - A folder represents the files in it; each subfolder is a namespace. Files with the extension
//     of a format are published, text and archives only if they contain a table; everything else is
//     skipped.
//   - A folder with a descriptor (datapackage.json, .yaml or .yml) represents the resources of the
//     descriptor. Other tables in it are skipped. A descriptor without resources sets the access of
//     everything in the folder that does not state its own, also of paths in it that the user
//     named.
//
// Files in a folder and paths in a descriptor must not lead out of the folder. A path that the user
// named may be a link.
type Finder struct {
	opts     Options
	previous map[string]probe        // by path
	shared   map[string]*file.Shared // by the path, the state and the number of sources of a file
}

// New returns a Finder.
func New(o Options) *Finder { return &Finder{opts: o} }

// Discover finds the sources at paths, sorted by the names of their datasets; those of one file
// follow each other. If two sources have the same name, neither is returned. Release each source
// after it is read.
func (f *Finder) Discover(ctx context.Context, paths []string) descriptor.Set {
	s := f.newSearch(ctx)
	for _, p := range paths {
		s.try(p, func() error { return s.addPath(p) })
	}
	s.rejectData()
	s.rejectClashes()
	s.shareFiles()
	f.previous = s.probes
	return s.Set
}

// As finds the only dataset in a file, a folder or a descriptor, and names it.
func (f *Finder) As(ctx context.Context, path string, ref herb.Ref) (descriptor.Source, error) {
	path = filepath.Clean(path)
	if err := descriptor.CheckReserved(path, ref); err != nil {
		return descriptor.Source{}, err
	}
	s := f.newSearch(ctx)
	s.single = true
	s.Fail(s.addPath(path))
	s.rejectData()
	switch {
	case len(s.Errors) > 0:
		return descriptor.Source{}, s.Err()
	case len(s.Sources) != 1:
		return descriptor.Source{},
			herb.Invalidf("%s contains %d datasets, but only one can be named %s; name a single file", path,
				len(s.Sources), ref)
	}
	s.Sources[0].Ref = ref
	return s.Sources[0], nil
}

// AsInput finds a table in a source whose content has no path: table names it, or is empty if there
// is only one. The source has a name, Input and DisplayName.
func (f *Finder) AsInput(ctx context.Context, src descriptor.Source, table string) (descriptor.Source, error) {
	s := f.newSearch(ctx)
	s.single = true
	src.Path = src.DisplayName
	p := s.examine(file.Options{Formats: s.opts.Formats, Content: src.Input, Name: src.DisplayName}, src.Path)
	if err := s.addProbed(src, p, table); err != nil {
		return src, err
	}
	found := s.Sources[0]
	found.Ref = src.Ref
	return found, nil
}

type search struct {
	*Finder
	descriptor.Set
	ctx     context.Context
	data    fs.FileInfo // data folder of the program; nil: there is none
	visited map[visit]bool
	probes  map[string]probe // by path
	single  bool             // a file is one dataset, regardless of its name; it must have one table
}

// visit is a folder under one of its names. Links can give it several; each is visited once.
type visit struct{ real, namespace string }

func (f *Finder) newSearch(ctx context.Context) *search {
	data, _ := os.Stat(f.opts.Data)
	return &search{Finder: f, ctx: ctx, data: data, visited: map[visit]bool{}, probes: map[string]probe{}}
}

// try calls do and records its error, or a panic as an error about a path, so that neither affects
// other paths.
func (s *search) try(path string, do func() error) {
	var bug error
	func() {
		defer herb.Recover(&bug)
		s.Fail(do())
	}()
	if bug != nil {
		s.Fail(fmt.Errorf("%s: %w", path, bug))
	}
}

// addPath adds the sources at a path that the user named.
func (s *search) addPath(path string) error {
	if path == "" {
		return herb.Invalidf("a path is empty; name a file or a folder")
	}
	path, table := descriptor.SplitLabel(filepath.Clean(path))
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		s.Folders = append(s.Folders, filepath.Dir(path))
	}
	switch {
	case s.inData(path):
		return errDataFolder(path)
	case err != nil:
		return file.CannotRead(path, err)
	case info.IsDir() && table != "":
		return herb.Invalidf("%s is a folder and has no table %q; name a file, such as %s", path, rows.Clip(table),
			filepath.Join(path, "file.db#table"))
	case info.IsDir():
		dir, err := file.OpenDir(path)
		if err != nil {
			return err
		}
		defer dir.Close()
		return s.addFolder(dir, path, nil, s.folderAccess(filepath.Dir(absolute(path))))
	case isTemporary(path):
		return herb.Invalidf("%s is a hidden or temporary file; rename it to publish it", path)
	case !info.Mode().IsRegular():
		return file.CannotRead(path, file.ErrNotRegular)
	}
	first := len(s.Sources)
	if table == "" && descriptor.Detect(path, info.Size()) {
		if set, own := s.addDescriptor(file.Dir{}, path); own != "" && len(set.Sources) == 0 {
			return herb.Invalidf("%s has no resources: it sets the access of its folder; publish the folder or files in it", path)
		}
	} else {
		err = s.addNamedFile(path, table)
	}
	s.inherit(first, s.folderAccess(filepath.Dir(absolute(path))))
	return err
}

// addDescriptor adds the resources of a descriptor in a folder that the user named; zero: the user
// named the descriptor. It returns them, or the access that the descriptor states for its folder.
func (s *search) addDescriptor(in file.Dir, path string) (descriptor.Set, herb.Access) {
	set, access := descriptor.Read(in, path, s.opts.Formats)
	count := map[string]int{} // sources by file; inline records are in the descriptor
	for _, src := range set.Sources {
		count[src.Path]++
		if count[src.Path] > maxTables {
			s.Fail(herb.Invalidf("%s has more than %d resources with records of %s; at most %d are published "+
				"together; remove some",
				path, maxTables, src.Path, maxTables))
			return descriptor.Set{}, ""
		}
	}
	s.Sources, s.Skipped = append(s.Sources, set.Sources...), append(s.Skipped, set.Skipped...)
	s.Errors, s.Folders = append(s.Errors, set.Errors...), append(s.Folders, set.Folders...)
	s.Named = append(s.Named, set.Named...)
	return set, access
}

// addFolder adds the content of a folder. above are the real paths of the folders through which it
// was reached, and access is what they state for it.
func (s *search) addFolder(dir file.Dir, path string, above []string, access herb.Access) error {
	if len(above) > rows.MaxDepth {
		return herb.At(path, herb.Invalidf("the folder is nested more than %d levels deep; publish it by its path",
			rows.MaxDepth))
	}
	abs, real, err := realPath(path)
	if err != nil {
		return file.CannotRead(path, err)
	}
	v := visit{real, filepath.Base(abs)}
	if s.visited[v] || slices.Contains(above, real) {
		return nil
	}
	s.visited[v] = true
	s.Folders = append(s.Folders, path)
	entries, err := dir.ReadDir(path)
	if err != nil {
		return err
	}
	if s.opts.SkipEmptyDescriptors {
		entries = slices.DeleteFunc(entries, descriptor.IsEmpty)
	}
	var descriptors []string
	for _, e := range entries {
		if descriptor.IsDescriptor(e.Name()) {
			descriptors = append(descriptors, e.Name())
		}
	}
	first := len(s.Sources)
	if len(descriptors) > 1 {
		return herb.Invalidf("%s has more than one descriptor (%s); keep one", path, strings.Join(descriptors, ", "))
	}
	above = append(slices.Clip(above), real)
	if len(descriptors) == 1 {
		own := s.addPackage(dir, path, descriptors[0], entries, above)
		if own == "" {
			s.inherit(first, access)
			return nil
		}
		access = own
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == descriptors[0] })
	}
	for _, e := range entries {
		p := filepath.Join(path, e.Name())
		s.try(p, func() error { return s.addEntry(dir, p, above, access) })
	}
	s.inherit(first, access)
	return nil
}

func (s *search) addEntry(dir file.Dir, path string, above []string, access herb.Access) error {
	if isTemporary(path) {
		return nil
	}
	info, err := dir.Stat(path)
	_, isTable := file.ByPath(s.opts.Formats, path)
	switch {
	case errors.Is(err, file.ErrEscapes), err != nil && isTable:
		return err
	case err != nil:
		s.Skip(path, "broken link")
	case info.IsDir() && s.isData(info):
		s.Skip(path, "data folder of the program (--data), which is never published")
	case info.IsDir():
		return s.addFolder(dir, path, above, access)
	case !info.Mode().IsRegular():
		s.Skip(path, file.ErrNotRegular.Error())
	default:
		return s.addFolderFile(dir, path)
	}
	return nil
}

// rejectData removes sources in the data folder, to which links in a folder or a descriptor may
// lead.
func (s *search) rejectData() {
	s.Sources = slices.DeleteFunc(s.Sources, func(src descriptor.Source) bool {
		i := slices.IndexFunc(src.Files(), s.inData)
		if i >= 0 {
			s.Fail(errDataFolder(src.Files()[i]))
		}
		return i >= 0
	})
}

// rejectClashes sorts the sources, removes duplicates, and removes sources that have the same name.
func (s *search) rejectClashes() {
	slices.SortStableFunc(s.Sources, func(a, b descriptor.Source) int { return a.Ref.Compare(b.Ref) })
	all := slices.CompactFunc(s.Sources, isSame)
	s.Sources = nil
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].Ref == all[i].Ref {
			s.Fail(herb.Invalidf("%s and %s would both be published as %s; rename one, or publish it with --as "+
				"namespace/dataset",
				all[i].Label(), all[end].Label(), all[i].Ref))
			end++
		}
		if end == i+1 {
			s.Sources = append(s.Sources, all[i])
		}
		i = end
	}
}

// shareFiles makes the sources of a file share it, and groups them, so that few files are open at
// once. A search that finds the file unchanged shares it with the previous one, because a watcher
// publishes the sources of one file from several searches.
func (s *search) shareFiles() {
	byPath, first, shared := map[string][]*descriptor.Source{}, map[string]herb.Ref{}, map[string]*file.Shared{}
	for i := range s.Sources {
		src := &s.Sources[i]
		if src.Input == nil && len(src.MoreFiles) == 0 {
			byPath[src.Path] = append(byPath[src.Path], src)
		}
		if _, known := first[src.Path]; !known {
			first[src.Path] = src.Ref
		}
	}
	for path, sources := range byPath {
		info, err := os.Stat(path)
		if len(sources) == 1 || err != nil {
			continue
		}
		key := fmt.Sprint(path, len(sources), stampOf(file.Dir{}, path, info))
		shared[key] = cmp.Or(s.shared[key], file.NewShared(len(sources)))
		for _, src := range sources {
			src.Shared = shared[key]
		}
	}
	s.Finder.shared = shared
	slices.SortStableFunc(s.Sources, func(a, b descriptor.Source) int { return first[a.Path].Compare(first[b.Path]) })
}

// isSame reports whether two sources are one that was reached in two ways.
func isSame(a, b descriptor.Source) bool {
	path := b.Path
	b.Path, b.Root, b.Base = a.Path, a.Root, a.Base
	if !reflect.DeepEqual(a, b) {
		return false
	}
	infoA, errA := os.Stat(a.Path)
	infoB, errB := os.Stat(path)
	return errors.Join(errA, errB) == nil && os.SameFile(infoA, infoB)
}

// isTemporary reports whether a file is hidden or was left behind by an editor.
func isTemporary(path string) bool {
	base := filepath.Base(path)
	return slices.Contains([]string{".tmp", ".swp"}, filepath.Ext(base)) || strings.HasPrefix(base, ".") ||
		strings.HasPrefix(base, "~") || strings.HasSuffix(base, "~")
}

// isData reports whether a folder is the one in which the program keeps its own data. It must never
// be published: its database has the hashes of keys. Folders are compared by identity, so that
// neither links nor another spelling hide it.
func (s *search) isData(info fs.FileInfo) bool { return s.data != nil && os.SameFile(s.data, info) }

// inData reports whether a path leads to the data folder or to something in it.
func (s *search) inData(path string) bool {
	if s.data == nil {
		return false
	}
	_, folder, err := realPath(path)
	for last := ""; err == nil && folder != last; last, folder = folder, filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil && s.isData(info) {
			return true
		}
	}
	return false
}

// realPath returns a path as an absolute one, and the absolute path to which it leads.
func realPath(path string) (abs, real string, err error) {
	abs, err = filepath.Abs(path)
	if err == nil {
		real, err = filepath.EvalSymlinks(abs)
	}
	return abs, real, err
}

func errDataFolder(path string) error {
	return herb.Invalidf("%s is in the data folder of the program (--data), which is never published; name another "+
		"file or folder", path)
}

package ingest

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
	"herbarium/internal/ingest/file"
)

// Discover finds the datasets in files, folders and descriptors, in the order of their names.
//
//   - A file X/Y.csv becomes the dataset x/y.
//   - A database X/Y.db with several tables becomes a dataset x/table for each of them.
//   - X/Y.db#table and X/Y.xlsx#sheet are one table and one sheet, as the datasets x/table and x/y-sheet.
//   - A folder stands for the files in it, and each of its subfolders is a namespace too. Files with other extensions are
//     passed over there; one that is named itself is read as what its content says. Hidden files and leftovers of
//     editors are passed over too, and it is an error to name one.
//   - A folder with a descriptor (datapackage.json, .yaml or .yml) stands for the resources of the descriptor alone. A
//     descriptor of another name can be named itself.
//
// The error joins all that is wrong (its Unwrap() []error gives one for each). It does not hide what is right: the
// sources beside it can be published, and SplitSkipped tells what in it is no failure. Of two sources with the same name
// neither can be published.
//
// What is in a folder or a descriptor must not lead out of the folder, neither by its path nor by a link. What the user
// names may be a link.
func Discover(paths []string) ([]Source, error) { return Finder{}.Discover(paths) }

// As is Finder.As without a data folder.
func As(path string, ref herb.Ref) (Source, error) { return Finder{}.As(path, ref) }

// Finder finds sources.
type Finder struct {
	// Data is the folder in which the program keeps its own data, which is never published. Empty: there is none.
	Data string
}

// Discover is the function Discover for a program with a data folder. That folder is passed over in a folder, and it is
// an error to name it or anything in it.
func (o Finder) Discover(paths []string) ([]Source, error) {
	return (&finder{data: newDataFolder(o.Data)}).find(paths)
}

func (f *finder) find(paths []string) ([]Source, error) {
	if f.data == nil {
		f.data = newDataFolder("")
	}
	for _, p := range paths {
		if p == "" {
			f.problem(herb.Invalidf("a path is empty; name a file or a folder"))
			continue
		}
		p = filepath.Clean(p)
		if file, _ := splitPart(p); f.data.contains(file) {
			f.problem(errDataFolder(file))
			continue
		}
		f.recovered(p, func() { f.path(p) })
	}
	f.sources = slices.DeleteFunc(f.sources, func(s Source) bool {
		for _, file := range s.files() { // a link may lead there
			if f.data.contains(file) {
				f.problem(errDataFolder(file))
				return true
			}
		}
		return false
	})
	sources := f.distinct()
	return sources, errors.Join(f.problems...)
}

// As finds the one dataset in a file, a folder or a descriptor, and gives it a name chosen by the user.
func (o Finder) As(path string, ref herb.Ref) (Source, error) {
	path, part := splitPart(filepath.Clean(path))
	if err := checkReserved(path, ref); err != nil {
		return Source{}, err
	}
	if newDataFolder(o.Data).contains(path) {
		return Source{}, errDataFolder(path)
	}
	if part != "" {
		src, err := partOf(path, part)
		src.Ref = ref
		return src, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, file.CannotRead(path, err)
	}
	if !info.IsDir() && !isPackage(path, info) {
		if _, err := publishable(path, info); err != nil {
			return Source{}, err
		}
		return Source{Ref: ref, Path: path}, nil
	}
	sources, err := o.Discover([]string{path})
	_, failed := SplitSkipped(err)
	switch {
	case len(failed) > 0:
		return Source{}, errors.Join(failed...)
	case len(sources) != 1:
		return Source{}, herb.Invalidf("%s holds %d datasets and only one can be called %s; name a single file",
			path, len(sources), ref)
	}
	sources[0].Ref = ref
	return sources[0], nil
}

// finder gathers sources and what is wrong with others.
type finder struct {
	sources  []Source
	problems []error
	data     *dataFolder
	visited  map[visit]bool
	// A descriptor without content is passed over: a shell makes one before it runs the command that is to fill it.
	passEmpty bool
}

// visit is a folder under one of its names: a link can give it several. Each is visited once.
type visit struct{ real, namespace string }

func (f *finder) problem(err error) { f.problems = append(f.problems, err) }

// recovered calls do and reports a panic as a problem of the path: one file must not hide the others.
func (f *finder) recovered(path string, do func()) {
	err := func() (err error) {
		defer herb.Recover(&err)
		do()
		return nil
	}()
	if err != nil {
		f.problem(fmt.Errorf("%s: %w", path, err))
	}
}

// path takes up a path that the user named.
func (f *finder) path(path string) {
	path, part := splitPart(path)
	if part != "" {
		f.part(path, part)
		return
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		f.problem(file.CannotRead(path, err))
	case info.IsDir():
		in, err := file.OpenDir(path)
		if err != nil {
			f.problem(err)
			return
		}
		defer in.Close()
		f.folder(in, path, nil)
	case isPackage(path, info):
		f.descriptor(file.Dir{}, path)
	default:
		format, err := publishable(path, info)
		if err != nil {
			f.problem(err)
			return
		}
		f.file(file.Dir{}, path, format)
	}
}

func (f *finder) file(in file.Dir, path string, format Format) {
	if format == FormatSQLite && f.tables(in, path) {
		return
	}
	ref, err := refOfFile(path)
	if err != nil {
		f.problem(err)
		return
	}
	f.sources = append(f.sources, Source{Ref: ref, Path: path, Root: in.Path()})
}

func (f *finder) descriptor(in file.Dir, path string) {
	sources, problems := readDescriptor(in, path)
	f.sources = append(f.sources, sources...)
	for _, err := range problems {
		if s, ok := err.(*Skipped); ok {
			f.problem(&Skipped{located(path, s.Err)})
			continue
		}
		f.problem(located(path, err))
	}
}

// folder takes up what is in a folder, which is in one that the user named or is that itself. above are the real paths of
// the folders it was reached through.
func (f *finder) folder(in file.Dir, path string, above []string) {
	abs, err := filepath.Abs(path)
	if err != nil {
		f.problem(file.CannotRead(path, err))
		return
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		f.problem(file.CannotRead(path, err))
		return
	}
	v := visit{real, filepath.Base(abs)}
	if f.visited[v] || slices.Contains(above, real) {
		return // a link that leads back
	}
	if f.visited == nil {
		f.visited = map[visit]bool{}
	}
	f.visited[v] = true

	entries, err := in.ReadDir(path)
	if err != nil {
		f.problem(err)
		return
	}
	if f.passEmpty {
		entries = slices.DeleteFunc(entries, isEmptyDescriptor)
	}
	var descriptors []string
	for _, e := range entries {
		if isDescriptor(e.Name()) {
			descriptors = append(descriptors, e.Name())
		}
	}
	switch len(descriptors) {
	case 0:
		above = append(slices.Clip(above), real)
		for _, e := range entries {
			p := filepath.Join(path, e.Name())
			f.recovered(p, func() { f.entry(in, p, above) })
		}
	case 1:
		f.descriptor(in, filepath.Join(path, descriptors[0]))
	default:
		f.problem(herb.Invalidf("%s has more than one descriptor (%s); keep one", path, strings.Join(descriptors, ", ")))
	}
}

// entry takes up something found in a folder, and passes over what is not meant to be published.
func (f *finder) entry(in file.Dir, path string, above []string) {
	if isLeftover(path) {
		return
	}
	format, known := formatOf(path)
	info, err := in.Stat(path) // of what a link leads to
	switch {
	case errors.Is(err, file.ErrEscapes), err != nil && known:
		f.problem(err)
	case err != nil: // a link to nowhere that would not have been published either
	case info.IsDir() && f.data.is(info):
		f.problem(&Skipped{herb.Invalidf("%s is the data folder of the program (--data), which is never published", path)})
	case info.IsDir():
		f.folder(in, path, above)
	case known && info.Mode().IsRegular() && !isOtherDatabase(in, path):
		f.file(in, path, format)
	}
}

// distinct returns the sources in order, without those that were found twice and those whose name is not theirs alone.
func (f *finder) distinct() []Source {
	slices.SortStableFunc(f.sources, func(a, b Source) int { return a.Ref.Compare(b.Ref) })
	sources := slices.CompactFunc(f.sources, same)
	var out []Source
	for i := 0; i < len(sources); {
		n := i + 1
		for n < len(sources) && sources[n].Ref == sources[i].Ref {
			f.problem(herb.Invalidf("%s and %s would both be published as %s; rename one, or publish it with --as namespace/dataset",
				sources[i].Path, sources[n].Path, sources[i].Ref))
			n++
		}
		if n == i+1 {
			out = append(out, sources[i])
		}
		i = n
	}
	return out
}

// same reports whether two sources are one that was reached in two ways.
func same(a, b Source) bool {
	infoA, errA := os.Stat(a.Path)
	infoB, errB := os.Stat(b.Path)
	b.Path, b.Root, b.Base = a.Path, a.Root, a.Base
	return reflect.DeepEqual(a, b) && errors.Join(errA, errB) == nil && os.SameFile(infoA, infoB)
}

// publishable tells the format of a file that the user named, by its extension or, if that says nothing, by its content. The
// error says why it cannot be published.
func publishable(path string, info fs.FileInfo) (Format, error) {
	switch {
	case isLeftover(path):
		return "", herb.Invalidf("%s is a hidden or temporary file; rename it to publish it", path)
	case !info.Mode().IsRegular():
		return "", file.CannotRead(path, file.ErrNotRegular)
	}
	if format, ok := formatOf(path); ok {
		return format, nil
	}
	return detectFile(path)
}

// detectFile detects the format of a file by its content.
func detectFile(path string) (Format, error) {
	f, err := file.Open(context.Background(), path, file.Options{IsTable: isTable})
	if err != nil {
		return "", located(path, err)
	}
	defer f.Close()
	format, _, err := f.Detect(formats(), "")
	if err != nil {
		return "", located(path, err)
	}
	return Format(format.Name), nil
}

// isLeftover tells hidden files and what editors leave behind.
func isLeftover(path string) bool {
	base := filepath.Base(path)
	switch filepath.Ext(base) {
	case ".tmp", ".swp":
		return true
	}
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "~") || strings.HasSuffix(base, "~")
}

// descriptorNames are the names by which a descriptor is known.
func descriptorNames() []string {
	return []string{"datapackage.json", "datapackage.yaml", "datapackage.yml"}
}

func isEmptyDescriptor(e fs.DirEntry) bool {
	info, err := e.Info()
	return isDescriptor(e.Name()) && err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// isPackage reports whether a file that the user named is a descriptor, by its name or by what is in it.
func isPackage(path string, info fs.FileInfo) bool {
	return isDescriptor(path) || info.Mode().IsRegular() && !isLeftover(path) && looksLikePackage(path, info.Size())
}

func isDescriptor(path string) bool { return slices.Contains(descriptorNames(), filepath.Base(path)) }

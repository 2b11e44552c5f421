package discover

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
)

// addPackage adds the resources of the descriptor of a folder, and skips the tables in it that are
// not among them. It returns the access that the descriptor states for the folder; then it has no
// resources, and nothing is skipped.
func (s *search) addPackage(dir file.Dir, path, name string, entries []fs.DirEntry, above []string) herb.Access {
	failed := len(s.Errors)
	if _, own := s.addDescriptor(dir, filepath.Join(path, name)); own != "" || len(s.Errors) > failed {
		return own // after an error, what it lists is not known completely
	}
	beside := s.Finder.newSearch(s.ctx)
	beside.probes = s.probes
	for _, e := range entries {
		p := filepath.Join(path, e.Name())
		if e.Name() != name {
			beside.try(p, func() error { return beside.addEntry(dir, p, above, "") })
		}
	}
	s.Folders = append(s.Folders, beside.Folders...)
	for _, src := range beside.Sources {
		if !slices.Contains(s.Named, src.Path) {
			s.Skipped = append(s.Skipped, descriptor.Skipped{Path: src.Label(), Ref: src.Ref, Reason: fmt.Sprintf(
				"%s does not list it; add it to its resources, or move it to a folder without a descriptor",
				filepath.Join(path, name))})
		}
	}
	return ""
}

// inherit sets the access of the sources from a position on that do not state it to that of their
// folder, if it states one.
func (s *search) inherit(first int, access herb.Access) {
	for i := first; i < len(s.Sources) && access != ""; i++ {
		if src := &s.Sources[i]; !src.AccessSet {
			src.Access, src.AccessSet = access, true
		}
	}
}

// folderAccess returns the access that a folder, or the closest one above it, states in a
// descriptor without resources; empty: none does. Other descriptors, valid or not, do not concern
// the files that the user named.
func (s *search) folderAccess(folder string) herb.Access {
	for last := ""; folder != last; last, folder = folder, filepath.Dir(folder) {
		for _, name := range descriptor.Names() {
			path := filepath.Join(folder, name)
			if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
				continue
			}
			if _, access := descriptor.Read(file.Dir{}, path, s.opts.Formats); access != "" {
				s.Folders = append(s.Folders, folder)
				return access
			}
		}
	}
	return ""
}

// absolute returns the absolute path, or path itself if the working directory is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

package review

import (
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"herbarium/internal/herb"
)

// Archive writes the files of drafts to a zip archive, ordered by their names, so that they can be
// one dataset. It returns what they are called in the archive.
func (s *Service) Archive(ctx context.Context, ids []string, to io.Writer) (names []string, err error) {
	type file struct {
		id string
		*storedDraft
	}
	files := make([]file, len(ids))
	for i, id := range ids {
		r, err := s.load(ctx, id)
		if err != nil {
			return nil, err
		}
		if r.Edits.Table != "" {
			return nil, herb.Invalidf("%s is a table of %s; select its tables in the review of the file, where they can "+
				"become one dataset", r.Ref, r.Name)
		}
		files[i] = file{id, r}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Ref, b.Ref), strings.Compare(a.id, b.id))
	})
	archive := zip.NewWriter(to)
	for _, f := range files {
		name := cmp.Or(f.Name, "table.csv")
		if slices.Contains(names, name) {
			name = f.ref().Name + "-" + f.id + "-" + name
		}
		names = append(names, name)
		if err := s.archiveFile(ctx, archive, name, f.id); err != nil {
			return nil, err
		}
	}
	return names, archive.Close()
}

func (s *Service) archiveFile(ctx context.Context, archive *zip.Writer, name, id string) error {
	content, err := s.opts.Versions.OpenDraft(ctx, id)
	if err != nil {
		return err
	}
	entry, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err == nil {
		_, err = io.Copy(entry, content)
	}
	return errors.Join(err, content.Close())
}

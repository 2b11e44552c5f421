package review

import (
	"context"
	"path"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
)

// TablePart is a table of a file, and the dataset that it becomes.
type TablePart struct {
	Ref   herb.Ref
	Table string
}

// Split makes a draft of each of several tables of the file of a draft, and removes the draft.
// Nothing changes if it fails. The caller checks that the key may publish the datasets.
func (s *Service) Split(ctx context.Context, id string, parts []TablePart, actor herb.Actor) (drafts []Draft,
	err error) {
	if len(parts) >= MaxDrafts {
		return nil, herb.Invalidf("%d tables are selected; select at most %d at a time", len(parts), MaxDrafts-1)
	}
	seen := map[herb.Ref]bool{}
	for _, p := range parts {
		if seen[p.Ref] {
			return nil, herb.Invalidf("two tables would become the dataset %s; give each a name of its own", p.Ref)
		}
		seen[p.Ref] = true
	}
	r, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		d, err := s.copyDraft(ctx, id, r, p, actor)
		if err != nil {
			for _, d := range drafts {
				s.remove(ctx, d.ID)
			}
			return nil, err
		}
		drafts = append(drafts, d)
	}
	s.remove(ctx, id)
	return drafts, nil
}

// copyDraft makes a draft of a table of a draft's file.
func (s *Service) copyDraft(ctx context.Context, id string, r *storedDraft, p TablePart,
	actor herb.Actor) (Draft, error) {
	content, err := s.opts.Versions.OpenDraft(ctx, id)
	if err != nil {
		return Draft{}, err
	}
	defer content.Close()
	edits := Edits{Table: p.Table, Encoding: r.Edits.Encoding}
	return s.create(ctx, storedDraft{Ref: p.Ref.String(), Name: r.Name, Size: r.Size, SHA256: r.SHA256, Edits: edits},
		content, actor)
}

// isFileName reports whether the name of a table is that of a file of an archive.
func isFileName(table string) bool {
	ext := path.Ext(table)
	return len(ext) > 2 && len(ext) <= 8 &&
		!strings.ContainsFunc(ext[1:], func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) })
}

// NameTable returns a name for the dataset of a table of a file: that of its file if the file is an
// archive, and otherwise the name of the table after that of the dataset of the file; empty if
// neither has letters or digits.
func NameTable(file herb.Ref, table string) string {
	name := file.Name + "-" + table
	if entry, sheet, _ := strings.Cut(table, "#"); isFileName(entry) {
		name = descriptor.Stem(entry)
		if sheet != "" {
			name += "-" + sheet
		}
	}
	ref, err := descriptor.NewRef(table, file.Namespace, name)
	if err != nil {
		return ""
	}
	return ref.Name
}

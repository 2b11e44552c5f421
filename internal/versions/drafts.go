package versions

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// DraftAge is how long a draft is kept after its last use.
const DraftAge = 24 * time.Hour

// SaveDraft stores the file of a draft, compressed, for all nodes. The draft must be in the
// catalogue before: files of drafts that are not in it are garbage.
func (s *Service) SaveDraft(ctx context.Context, id string, content io.Reader) error {
	lock, err := store.LockVersions(s.opts.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	name := store.DraftFile(id)
	path := filepath.Join(s.opts.Dir, name)
	err = s.writeCompressed(ctx, path, content)
	if err == nil && s.shared() {
		err = s.opts.Blobs.Put(ctx, name, path, nil)
		if failed := s.opts.FS.RemoveAll(path); err == nil {
			err = failed
		}
	}
	if err != nil {
		return fmt.Errorf("keeping the draft: %w", err)
	}
	return nil
}

// OpenDraft returns the file of a draft. The error, or that of a read, has herb.CodeNotFound if
// there is none. The caller closes the reader.
func (s *Service) OpenDraft(ctx context.Context, id string) (io.ReadCloser, error) {
	return s.openCompressed(ctx, store.DraftFile(id),
		herb.Errorf(herb.CodeNotFound, "the file of the draft is not kept any more; send it again"))
}

// RemoveDraft removes the file of a draft. Removing an unknown draft is not an error.
func (s *Service) RemoveDraft(ctx context.Context, id string) error {
	if s.shared() {
		return s.opts.Blobs.Delete(ctx, store.DraftFile(id))
	}
	return s.opts.FS.RemoveAll(filepath.Join(s.opts.Dir, store.DraftFile(id)))
}

// collectDrafts removes the files of drafts that are not in the catalogue, or have expired. A draft
// enters the catalogue before its file is stored, so that a file that was listed before is garbage
// if its draft is not in the catalogue, however new it is.
func (s *Service) collectDrafts(ctx context.Context, files []string) error {
	var ids []string
	for _, name := range files {
		if id, ok := strings.CutSuffix(name, store.DraftSuffix); ok && store.IsDraftID(id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	known, err := s.catalogue.DraftIDs(ctx, s.opts.Now().Add(-DraftAge))
	if err != nil {
		return err
	}
	inCatalogue := newSet(known)
	for _, id := range ids {
		if inCatalogue[id] {
			continue
		}
		if failed := s.RemoveDraft(ctx, id); failed != nil {
			err = failed
		} else {
			s.opts.Log.Info("removed draft", "draft", id)
		}
	}
	return err
}

package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herbarium/internal/segment"
)

// copySuffix ends the names of files that blobs writes while a migration or a load copies segments into the folder.
const copySuffix = ".tmp"

// Sweep removes what interrupted publishes and fetches have left, and files of versions that are in the catalogue no more.
// Files of the last hour are kept: a publish may be under way.
func (l *Library) Sweep(ctx context.Context) error {
	files, err := l.opts.FS.ReadDir(l.opts.Dir)
	if err != nil {
		return err
	}
	versions, err := l.catalogue.Versions(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		if ext != fileSuffix && ext != segment.PartSuffix && ext != copySuffix || slices.Contains(versions, f.Name()[:len(f.Name())-len(ext)]) {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, os.ErrNotExist) || err == nil && l.opts.Now().Sub(info.ModTime()) < time.Hour {
			continue
		}
		if err == nil {
			err = l.opts.FS.RemoveAll(filepath.Join(l.opts.Dir, f.Name()))
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweeping leftovers: %w", err)
	}
	return nil
}

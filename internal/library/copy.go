package library

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
)

// catalogueFile is a node's copy of the catalogue, which it lists if it starts while the catalogue is down. The descriptions
// are in files of their own, one per version.
const catalogueFile = "catalogue.json"

// catalogueCopy is the content of catalogueFile.
type catalogueCopy struct {
	Generation int64              `json:"generation"`
	Datasets   []herb.LiveVersion `json:"datasets"`
	Plants     *herb.Dataset      `json:"plants,omitempty"` // last known description of the mutable dataset
}

// loadCatalogueCopy restores the entries from the copy that an earlier run saved, until the catalogue is read.
func (l *Library) loadCatalogueCopy() {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, catalogueFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var copied catalogueCopy
	if err == nil {
		err = json.Unmarshal(content, &copied)
	}
	if err != nil {
		l.opts.Log.Warn("cannot load catalogue copy", "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range copied.Datasets {
		l.setEntry(v)
	}
	l.status.Store(&catalogueStatus{generation: max(copied.Generation, 0), restored: true})
	if copied.Plants != nil {
		l.plants.dataset, l.plants.known = *copied.Plants, true
	}
	l.cache.savedCopy = content
	l.opts.Log.Info("serving versions of the catalogue copy until the catalogue is read", "datasets", len(copied.Datasets))
}

// saveCatalogueCopy saves the entries for loadCatalogueCopy if they changed.
func (l *Library) saveCatalogueCopy() {
	s := l.status.Load()
	if s.restored || s.generation < 0 {
		return
	}
	copied := catalogueCopy{Generation: s.generation, Datasets: l.liveVersions()}
	l.plants.mu.Lock()
	if l.plants.known {
		copied.Plants = new(l.plants.dataset)
	}
	l.plants.mu.Unlock()
	content, err := json.Marshal(copied)
	l.cache.saving.Lock()
	defer l.cache.saving.Unlock()
	if err == nil && !bytes.Equal(content, l.cache.savedCopy) {
		if err = l.saveContent(catalogueFile, content); err == nil {
			l.cache.savedCopy = content
		}
	}
	if err != nil {
		l.opts.Log.Warn("cannot save catalogue copy", "err", err)
	}
}

// saveContent writes a small file in Dir.
func (l *Library) saveContent(name string, content []byte) error {
	return l.saveFile(filepath.Join(l.opts.Dir, name), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// saveFile writes a file in Dir atomically. Other processes may write it concurrently.
func (l *Library) saveFile(path string, write func(io.Writer) error) error {
	lock, err := store.LockVersions(l.opts.Dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	return filesystem.WriteFile(l.opts.FS, path+"."+rand.Text()+segment.PartSuffix, path, 0o600, write)
}

// descriptionSuffix is the extension of a node's copy of a description.
const descriptionSuffix = ".description"

// loadDescription returns the copy of a description, which never changes.
func (l *Library) loadDescription(v herb.LiveVersion) (d herb.Dataset, err error) {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, v.Version+descriptionSuffix))
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(content, &d); err != nil {
		return d, err
	}
	if d.Ref != v.Ref || d.Version != v.Version {
		return d, errors.New("the description is that of another version")
	}
	return d, nil
}

// saveDescription saves a copy of a description. If that fails, the node needs the catalogue to open the version again.
func (l *Library) saveDescription(d herb.Dataset) {
	content, err := json.Marshal(d)
	if err == nil {
		err = l.saveContent(d.Version+descriptionSuffix, content)
	}
	if err != nil {
		l.opts.Log.Warn("cannot save description", "dataset", d.Ref.String(), "version", d.Version, "err", err)
	}
}

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

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// catalogueFile is a node's copy of the catalogue, which it lists if it starts while the catalogue is down.
const catalogueFile = "catalogue.json"

// catalogueCopy is the content of catalogueFile.
type catalogueCopy struct {
	Generation int64          `json:"generation"`
	Datasets   []herb.Dataset `json:"datasets"`
	Mutable    []herb.Dataset `json:"living,omitempty"` // last known descriptions
}

// loadCatalogueCopy restores the live set from the copy that an earlier run saved, until the catalogue is read.
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
	s := &liveSet{generation: max(copied.Generation, 0), restored: true, entries: make(map[herb.Ref]*entry, len(copied.Datasets))}
	for _, d := range copied.Datasets {
		s.entries[d.Ref] = &entry{live: d}
	}
	l.replaceLive(s)
	for _, d := range copied.Mutable {
		if known := l.mutable[d.Ref]; known != nil {
			known.dataset, known.known = d, true
		}
	}
	l.cache.savedCopy = content
	l.opts.Log.Info("serving versions of the catalogue copy until the catalogue is read", "datasets", len(copied.Datasets))
}

// saveCatalogueCopy saves the live set for loadCatalogueCopy if it changed.
func (l *Library) saveCatalogueCopy() {
	s := l.live.Load()
	if s.restored || s.generation < 0 {
		return
	}
	copied := catalogueCopy{Generation: s.generation, Datasets: []herb.Dataset{}}
	for _, e := range s.entries {
		copied.Datasets = append(copied.Datasets, e.live)
	}
	for ref := range l.mutable {
		if d, ok := l.mutable[ref].lastDescription(); ok {
			copied.Mutable = append(copied.Mutable, d)
		}
	}
	byRef(copied.Datasets)
	byRef(copied.Mutable)
	content, err := json.Marshal(copied)
	l.cache.saving.Lock()
	defer l.cache.saving.Unlock()
	if err == nil && !bytes.Equal(content, l.cache.savedCopy) {
		path := filepath.Join(l.opts.Dir, catalogueFile)
		part := path + "." + rand.Text() + segment.PartSuffix // another process may write it concurrently
		err = l.writeFile(part, path, func(w io.Writer) error {
			_, err := w.Write(content)
			return err
		})
		if err == nil {
			l.cache.savedCopy = content
		}
	}
	if err != nil {
		l.opts.Log.Warn("cannot save catalogue copy", "err", err)
	}
}

package library

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// catalogueFile is where a node keeps what the catalogue said, to have something to list if it starts without it.
const catalogueFile = "catalogue.json"

// memory is what is in the file.
type catalogueCopy struct {
	Generation int64          `json:"generation"`
	Datasets   []herb.Dataset `json:"datasets"`
	Mutable    []herb.Dataset `json:"living,omitempty"` // what was last known of them
}

// remember puts on the shelf what the catalogue said when this node last ran, until the catalogue is read.
func (l *Library) loadCatalogueCopy() {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, catalogueFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var m catalogueCopy
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	if err != nil {
		l.opts.Log.Warn("what the catalogue said when this node last ran is not known", "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &liveSet{generation: max(m.Generation, 0), restored: true, entries: make(map[herb.Ref]*entry, len(m.Datasets))}
	for _, d := range m.Datasets {
		s.entries[d.Ref] = &entry{live: d}
	}
	l.replaceLive(s)
	for _, d := range m.Mutable {
		if known := l.mutable[d.Ref]; known != nil {
			known.dataset, known.known = d, true
		}
	}
	l.cache.savedCopy = content
	l.opts.Log.Info("until the catalogue is read, what it said when this node last ran is listed", "datasets", len(m.Datasets))
}

// writeDown keeps what the catalogue says for remember, if it is another than before.
func (l *Library) saveCatalogueCopy() {
	s := l.live.Load()
	if s.restored || s.generation < 0 {
		return
	}
	m := catalogueCopy{Generation: s.generation, Datasets: []herb.Dataset{}}
	for _, e := range s.entries {
		m.Datasets = append(m.Datasets, e.live)
	}
	for ref := range l.mutable {
		if d, ok := l.mutable[ref].lastDescription(); ok {
			m.Mutable = append(m.Mutable, d)
		}
	}
	byRef(m.Datasets)
	byRef(m.Mutable)
	content, err := json.Marshal(m)
	l.cache.saving.Lock()
	defer l.cache.saving.Unlock()
	if err == nil && !bytes.Equal(content, l.cache.savedCopy) {
		if err = l.writeFile(filepath.Join(l.opts.Dir, catalogueFile), content); err == nil {
			l.cache.savedCopy = content
		}
	}
	if err != nil {
		l.opts.Log.Warn("what the catalogue says was not written down", "err", err)
	}
}

// writeFile writes a file whole or not at all.
func (l *Library) writeFile(path string, content []byte) error {
	part := path + "." + rand.Text() + segment.PartSuffix // another process may write it at the same time
	f, err := l.opts.FS.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = l.opts.FS.Rename(part, path)
	}
	if err != nil {
		err = errors.Join(err, l.opts.FS.RemoveAll(part))
	}
	return err
}

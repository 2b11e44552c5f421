package library

import (
	"bytes"
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
type memory struct {
	Generation int64          `json:"generation"`
	Datasets   []herb.Dataset `json:"datasets"`
	Living     []herb.Dataset `json:"living,omitempty"` // what was last known of them
}

// remember puts on the shelf what the catalogue said when this node last ran, until the catalogue is read.
func (l *Library) remember() {
	content, err := os.ReadFile(filepath.Join(l.opts.Dir, catalogueFile))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var m memory
	if err == nil {
		err = json.Unmarshal(content, &m)
	}
	if err != nil {
		l.opts.Log.Warn("what the catalogue said when this node last ran is not known", "err", err)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &shelf{generation: max(m.Generation, 0), remembered: true, entries: make(map[herb.Ref]*entry, len(m.Datasets))}
	for _, d := range m.Datasets {
		s.entries[d.Ref] = &entry{live: d}
	}
	l.replace(s)
	for _, d := range m.Living {
		if known := l.living[d.Ref]; known != nil {
			known.dataset, known.known = d, true
		}
	}
	l.cache.written = content
	l.opts.Log.Info("until the catalogue is read, what it said when this node last ran is listed", "datasets", len(m.Datasets))
}

// writeDown keeps what the catalogue says for remember, if it is another than before.
func (l *Library) writeDown() {
	s := l.shelf.Load()
	if s.remembered || s.generation < 0 {
		return
	}
	m := memory{Generation: s.generation, Datasets: []herb.Dataset{}}
	for _, e := range s.entries {
		m.Datasets = append(m.Datasets, e.live)
	}
	for ref := range l.living {
		if d, ok := l.living[ref].said(); ok {
			m.Living = append(m.Living, d)
		}
	}
	byRef(m.Datasets)
	byRef(m.Living)
	content, err := json.Marshal(m)
	l.cache.writing.Lock()
	defer l.cache.writing.Unlock()
	if err == nil && !bytes.Equal(content, l.cache.written) {
		if err = l.writeFile(filepath.Join(l.opts.Dir, catalogueFile), content); err == nil {
			l.cache.written = content
		}
	}
	if err != nil {
		l.opts.Log.Warn("what the catalogue says was not written down", "err", err)
	}
}

// writeFile writes a file whole or not at all.
func (l *Library) writeFile(path string, content []byte) error {
	part := path + segment.PartSuffix
	f, err := l.opts.FS.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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

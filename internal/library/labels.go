package library

import (
	"context"
	"sync"

	"herbarium/internal/herb"
)

// labels remembers which versions labels name, so that a request with a label reads the catalogue
// only after it has changed.
type labels struct {
	mu    sync.Mutex
	known map[versionKey]labeled // by dataset and label
}

// labeled is the version that a label names.
type labeled struct {
	version    string
	generation int64 // of the catalogue that has confirmed it
}

// maxLabels is the number of labels that a library remembers.
const maxLabels = 10_000

// ResolveVersion returns the name of the version that a text names: by its name, which is not
// looked up, or by a label. The error has herb.CodeGone if the dataset has no such label, and
// herb.CodeInvalid if the text can be neither, or the dataset is mutable. Everything that clients
// write where a version is expected passes it.
func (l *descriptions) ResolveVersion(ctx context.Context, ref herb.Ref, text string) (string, error) {
	switch {
	case l.IsMutable(ref):
		return "", herb.Invalidf("dataset %s has no versions, because every write changes it; omit the version", ref)
	case herb.IsVersion(text):
		return text, nil
	case !herb.IsLabel(text):
		return "", herb.Invalidf(
			"malformed version %q; write it as in X-Dataset-Version, such as 20240229T133000Z-abcdefghij, or write a label", clip(text))
	}
	if err := l.catalogue.updateEntries(ctx); err != nil {
		return "", err
	}
	key, generation := versionKey{ref, text}, l.catalogue.generation()
	l.labels.mu.Lock()
	known, ok := l.labels.known[key]
	l.labels.mu.Unlock()
	if ok && known.generation == generation {
		return known.version, nil
	}
	limited, cancel := context.WithTimeout(ctx, catalogueWait)
	defer cancel()
	version, err := l.catalogue.LabeledVersion(limited, ref, text)
	l.labels.mu.Lock()
	defer l.labels.mu.Unlock()
	switch {
	case isMissing(err):
		delete(l.labels.known, key)
		if herb.CodeOf(err) == herb.CodeNotFound {
			err = l.unknownDataset(ref)
		}
		return "", err
	case err != nil && ok && l.folder.shared() && ctx.Err() == nil: // the catalogue is down
		return known.version, nil
	case err != nil:
		return "", err
	}
	if l.labels.known == nil || len(l.labels.known) >= maxLabels {
		l.labels.known = map[versionKey]labeled{}
	}
	l.labels.known[key] = labeled{version, generation}
	return version, nil
}

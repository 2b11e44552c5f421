package library

import (
	"context"
	"fmt"
	"slices"

	"herbarium/internal/herb"
)

// requireStatedAccess makes the change from access key to open breaking, unless the publisher stated it: a missing
// descriptor must not make a protected dataset public.
func requireStatedAccess(changes []Change, live herb.Dataset, p Publication) {
	if p.AccessSet || accessOf(live) != herb.AccessKey || accessOf(p.Dataset) == herb.AccessKey {
		return
	}
	for i := range changes {
		if c := &changes[i]; c.Kind == AccessOther {
			c.Breaking = true
			c.Message = "the live version needs a key and this one does not state its access: it would become public; " +
				"state access key or open, in the descriptor or with --access"
		}
	}
}

// findProtected returns a breaking change for each protected dataset with the same source file as a publication that is open
// by default. Without its descriptor, a file may be published under another name.
func (l *Library) findProtected(ctx context.Context, p Publication) (changes []Change, err error) {
	if p.AccessSet || accessOf(p.Dataset) == herb.AccessKey || len(p.Origins) == 0 {
		return nil, nil
	}
	datasets, err := l.catalogue.Datasets(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range datasets {
		if d.Ref == p.Dataset.Ref || accessOf(d) != herb.AccessKey {
			continue
		}
		for _, o := range p.Origins {
			if slices.ContainsFunc(d.Origins, o.Overlaps) {
				changes = append(changes, Change{Kind: AccessOther, Breaking: true, Message: fmt.Sprintf(
					"%s is the source of %s, which needs a key, and this dataset does not state its access: its content would become "+
						"public; state access key or open, in the descriptor or with --access", o.Path, d.Ref)})
				break
			}
		}
	}
	return changes, nil
}

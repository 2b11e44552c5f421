package library_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// faultyCatalogue is a catalogue whose operations can be made to fail.
type faultyCatalogue struct {
	library.Catalogue
	add    func(do func() error) error
	prune  func(do func() error) error
	retire error
}

// AddVersion, PruneVersions and RetireVersion implement library.Catalogue.
func (c *faultyCatalogue) AddVersion(ctx context.Context, d herb.Dataset, over string) error {
	do := func() error { return c.Catalogue.AddVersion(ctx, d, over) }
	if c.add != nil {
		return c.add(do)
	}
	return do()
}

func (c *faultyCatalogue) PruneVersions(ctx context.Context, ref herb.Ref, keep int, at time.Time) (dropped []string, err error) {
	do := func() (err error) {
		dropped, err = c.Catalogue.PruneVersions(ctx, ref, keep, at)
		return err
	}
	if c.prune != nil {
		return nil, c.prune(do)
	}
	return dropped, do()
}

func (c *faultyCatalogue) RetireVersion(ctx context.Context, version string, at time.Time) (bool, error) {
	if c.retire != nil {
		return false, c.retire
	}
	return c.Catalogue.RetireVersion(ctx, version, at)
}

// TestPublish_catalogueFails has the catalogue fail before or after it executes an operation.
func TestPublish_catalogueFails(t *testing.T) {
	t.Parallel()
	locked := errors.New("the database is locked")
	before := func(func() error) error { return locked }
	after := func(do func() error) error { return errors.Join(do(), locked) }
	tests := map[string]struct {
		fault    faultyCatalogue
		reported bool
		live     bool // the new version is live although an error was reported
	}{
		"the version is not added":               {fault: faultyCatalogue{add: before}, reported: true},
		"error after the version was added":      {fault: faultyCatalogue{add: after}},
		"not added, and unknown":                 {fault: faultyCatalogue{add: before, retire: locked}, reported: true},
		"added, and unknown":                     {fault: faultyCatalogue{add: after, retire: locked}, reported: true, live: true},
		"old versions are not pruned":            {fault: faultyCatalogue{prune: before}},
		"old versions are pruned, but not named": {fault: faultyCatalogue{prune: after}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTrial(t, newContent(t, "old", 20), newContent(t, "new", 25), 0)
			test.fault.Catalogue = x.db
			*x.catalogue = test.fault
			failed := x.publish(t.Context(), x.after)
			*x.catalogue = faultyCatalogue{Catalogue: x.db}
			if errors.Is(failed, locked) != test.reported {
				t.Errorf("Publish: %v", failed)
			}
			if test.live {
				history, err := x.db.History(t.Context(), ref)
				if err != nil {
					t.Fatal(err)
				}
				x.published, failed = append(x.published, herb.Dataset{Ref: ref, Version: history.Live}), nil
			}
			if err := x.verify(t, failed); err != nil {
				t.Error(err)
			}
		})
	}
}

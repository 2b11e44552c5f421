package versions_test

import (
	"context"
	"slices"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestPublish_protected publishes over, or beside, a protected dataset.
func TestPublish_protected(t *testing.T) {
	t.Parallel()
	origin := []herb.Origin{{Path: "/srv/people.xlsx", InnerPath: "staff"}}
	from := func(path, part string) func(*versions.Publication) {
		return func(p *versions.Publication) {
			p.Origins = []herb.Origin{{Path: "/srv/other"}, {Path: path, InnerPath: part}}
		}
	}
	for _, tt := range []struct {
		name     string
		dataset  string
		access   herb.Access
		change   func(*versions.Publication)
		rejected bool
	}{
		{"open by default", "people", herb.AccessOpen, nil, true},
		{"no access at all", "people", "", nil, true},
		{"stated open", "people", herb.AccessOpen, func(p *versions.Publication) { p.AccessSet = true }, true},
		{"breaking changes allowed", "people", herb.AccessOpen,
			func(p *versions.Publication) { p.Consents = []herb.Consent{herb.ConsentBreaking} }, true},
		{"allowed", "people", herb.AccessOpen,
			func(p *versions.Publication) { p.Consents = []herb.Consent{herb.ConsentExposure} }, false},
		{"still protected", "people", herb.AccessKey, nil, false},
		{"check only", "people", herb.AccessOpen, func(p *versions.Publication) { p.Check = true }, true},
		{"another dataset from the same file", "other", herb.AccessOpen, from("/srv/people.xlsx", "staff"), true},
		{"another dataset from the whole file", "other", herb.AccessOpen, from("/srv/people.xlsx", ""), true},
		{"another sheet", "other", herb.AccessOpen, from("/srv/people.xlsx", "rooms"), false},
		{"another file", "other", herb.AccessOpen, from("/srv/rooms.xlsx", ""), false},
		{"the same file, stated open", "other", herb.AccessOpen,
			func(p *versions.Publication) { p.Origins, p.AccessSet = origin, true }, false},
		{"the same file, allowed", "other", herb.AccessOpen,
			func(p *versions.Publication) { p.Origins, p.Consents = origin, []herb.Consent{herb.ConsentExposure} },
			false},
		{"the same file, protected", "other", herb.AccessKey,
			func(p *versions.Publication) { p.Origins = origin }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := versionstest.NewSharedDir(t).Open(t)
			if err := versionstest.PublishIn(t, l, "people", herb.AccessKey,
				func(p *versions.Publication) { p.Origins = origin }); err != nil {
				t.Fatal(err)
			}
			err := versionstest.PublishIn(t, l, tt.dataset, tt.access, tt.change)
			if rejected := herb.CodeOf(err) == herb.CodeRejected; rejected != tt.rejected || err != nil && !rejected {
				t.Fatalf("rejected: %t, want %t: %v", rejected, tt.rejected, err)
			}
			if !tt.rejected {
				return
			}
			if consents := herb.ConsentsOf(err); !slices.Equal(consents, []herb.Consent{herb.ConsentExposure}) {
				t.Errorf("requires %v: %v", consents, err)
			}
			snap, err := l.Acquire(t.Context(), herb.Ref{Namespace: "vault", Name: "people"})
			if err != nil {
				t.Fatal(err)
			}
			defer snap.Release()
			if snap.Access != herb.AccessKey || snap.Origins != nil {
				t.Errorf("what is listed has access %q and origins %v", snap.Access, snap.Origins)
			}
		})
	}
}

// TestPublish_earlierOrigins publishes the file of an earlier version of a protected dataset under
// another name, after a version from another file, or from none, as over HTTP.
func TestPublish_earlierOrigins(t *testing.T) {
	t.Parallel()
	from := func(paths ...string) func(*versions.Publication) {
		return func(p *versions.Publication) {
			for _, path := range paths {
				p.Origins = append(p.Origins, herb.Origin{Path: path})
			}
		}
	}
	l := versionstest.NewSharedDir(t).Open(t)
	for _, paths := range [][]string{{"/srv/people.csv"}, {"/tmp/people.csv"}, nil} {
		if err := versionstest.PublishIn(t, l, "people", herb.AccessKey, from(paths...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"/srv/people.csv", "/tmp/people.csv"} {
		if err := versionstest.PublishIn(t, l, "other", herb.AccessOpen,
			from(path)); herb.CodeOf(err) != herb.CodeRejected {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestRollback_protected rolls back over a change of access.
func TestRollback_protected(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		versions []herb.Access // the last one is live
		given    []herb.Consent
		rejected bool
	}{
		{"key to open", []herb.Access{herb.AccessOpen, herb.AccessKey}, nil, true},
		{"key to open, with consent", []herb.Access{herb.AccessOpen, herb.AccessKey},
			versions.RollbackConsents(), false},
		{"key to key", []herb.Access{herb.AccessKey, herb.AccessKey}, nil, false},
		{"open to key", []herb.Access{herb.AccessKey, herb.AccessOpen}, nil, false},
		{"open to open", []herb.Access{herb.AccessOpen, herb.AccessOpen}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := versionstest.NewSharedDir(t).Open(t)
			for _, a := range tt.versions {
				if err := versionstest.PublishIn(t, l, "people", a,
					func(p *versions.Publication) { p.Consents = []herb.Consent{herb.ConsentExposure} }); err != nil {
					t.Fatal(err)
				}
			}
			name := herb.Ref{Namespace: "vault", Name: "people"}
			_, err := l.Rollback(t.Context(), name, "", tt.given...)
			if rejected := herb.CodeOf(err) == herb.CodeRejected; rejected != tt.rejected || err != nil && !rejected {
				t.Fatalf("rejected: %t, want %t: %v", rejected, tt.rejected, err)
			}
			want := tt.versions[0]
			if tt.rejected {
				want = tt.versions[1]
			}
			if d, err := l.Version(t.Context(), name, ""); err != nil || d.Access != want {
				t.Errorf("access is %s, want %s: %v", d.Access, want, err)
			}
		})
	}
}

// TestRollback_superseded has a version go live between reading the history and the commit.
func TestRollback_superseded(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	versionstest.Publish(t, l, 1)
	versionstest.Publish(t, l, 2)
	slow, err := versionstest.Open(
		&racingCatalogue{Catalogue: s.DB, meanwhile: func() { versionstest.Publish(t, l, 3) }},
		versionstest.Options{Dir: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := slow.Rollback(t.Context(), ref, ""); herb.CodeOf(err) != herb.CodeRejected {
		t.Errorf("got %v", err)
	}
	if n := versionstest.Total(t, versionstest.Acquire(t, l)); n != 3 {
		t.Errorf("%d records are live, want those of the version that went live in the meantime", n)
	}
}

// TestRollbackFrom_twice rolls back from the same version to the same version twice at once: one of
// them succeeds.
func TestRollbackFrom_twice(t *testing.T) {
	t.Parallel()
	s := versionstest.NewSharedDir(t)
	l := s.Open(t)
	first, second := versionstest.Publish(t, l, 1), versionstest.Publish(t, l, 2)
	slow, err := versionstest.Open(&racingCatalogue{Catalogue: s.DB, meanwhile: func() {
		if _, err := l.RollbackFrom(t.Context(), ref, second.Version, first.Version); err != nil {
			t.Error(err)
		}
	}}, versionstest.Options{Dir: s.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := slow.RollbackFrom(t.Context(), ref, second.Version, first.Version); !versions.IsConcurrent(err) {
		t.Errorf("got %v", err)
	}
}

// racingCatalogue is a catalogue that runs a hook right before the live version changes.
type racingCatalogue struct {
	versionstest.Catalogue
	meanwhile func()
}

// SetLive implements versionstest.Catalogue.
func (c *racingCatalogue) SetLive(ctx context.Context, ref herb.Ref, version, live string) error {
	c.meanwhile()
	return c.Catalogue.SetLive(ctx, ref, version, live)
}

package library_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/must"
	"herbarium/internal/versions"
	"herbarium/internal/versions/versionstest"
)

// TestPrivate compares what readers see of an open dataset, one that requires a key, and one that
// does not exist.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := versionstest.OpenLibrary(t, versionstest.OpenDB(t, dir), versionstest.Options{Dir: dir})
	for name, access := range map[string]herb.Access{"open": herb.AccessOpen, "secret": herb.AccessKey, "default": ""} {
		if err := versionstest.PublishIn(t, l, name, access, nil); err != nil {
			t.Fatal(err)
		}
	}
	private := library.Private{Library: l.Library}
	down := errors.New("database down")
	reader := func(refs ...string) context.Context {
		return library.WithReader(t.Context(), func(d herb.Dataset) bool {
			return d.Access == herb.AccessOpen || strings.Contains(strings.Join(refs, " "), d.Name)
		}, nil)
	}
	for _, tt := range []struct {
		name string
		ctx  context.Context
		live string
		err  error // of what depends on the key
	}{
		{"no reader", t.Context(), "default open", nil},
		{"reader of another dataset", reader("other"), "default open", nil},
		{"reader", reader("secret"), "default open secret", nil},
		{"reader of all", reader("secret", "default"), "default open secret", nil},
		{"unknown reader", library.WithReader(t.Context(), nil, down), "default open", down},
	} {
		live, err := private.Live(tt.ctx)
		found, searchErr := private.Search(tt.ctx, "vault", "")
		var names []string
		for _, v := range live {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != tt.live || len(found) != len(live) || !errors.Is(err, tt.err) ||
			!errors.Is(searchErr, tt.err) {
			t.Errorf("%s: %q and %d found, errors %v and %v; want %q", tt.name, got, len(found), err,
				searchErr, tt.live)
		}
		for _, name := range []string{"open", "secret", "default", "secrex"} {
			ref := herb.Ref{Namespace: "vault", Name: name}
			want := herb.CodeNotFound
			switch {
			case strings.Contains(tt.live, name):
				want = ""
			case tt.err != nil:
				want = herb.CodeOf(tt.err)
			}
			v, err := private.Acquire(tt.ctx, ref)
			v.Release()
			_, historyErr := l.VisibleHistory(tt.ctx, ref)
			_, versionErr := private.AcquireVersion(tt.ctx, ref, "20240229T133000Z-abcdefghij")
			for _, err := range []error{err, historyErr, versionErr} {
				got := herb.CodeOf(err)
				if want == "" && (err == nil || got == herb.CodeGone || tt.err != nil && errors.Is(err, tt.err)) {
					continue
				}
				if got != want {
					t.Errorf("%s: %s gives the error %v, want %s", tt.name, ref, err, want)
				}
				if got == herb.CodeNotFound &&
					strings.Contains(strings.ReplaceAll(err.Error(), ref.String(), ""), "secret") &&
					!strings.Contains(tt.live, "secret") {
					t.Errorf("%s: the error for %s tells the name of another dataset: %v", tt.name, ref, err)
				}
			}
		}
	}
}

// TestPrivate_versions checks that a protected version of an open dataset does not exist for
// readers without a key, and that the next version does not tell what it changed.
func TestPrivate_versions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := versionstest.OpenLibrary(t, versionstest.OpenDB(t, dir), versionstest.Options{Dir: dir})
	var names []string // newest first
	for i, access := range []herb.Access{herb.AccessOpen, herb.AccessKey, herb.AccessOpen, herb.AccessOpen} {
		p := versions.Publication{Dataset: herb.Dataset{Ref: canary(), Access: access, Fields: fields},
			Records: versionstest.Numbers(i+1, nil), AccessSet: true, PublishOptions: versions.PublishOptions{
				Consents: []herb.Consent{herb.ConsentExposure}}}
		d, err := l.Publish(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		names = append([]string{d.Version}, names...)
	}
	private := library.Private{Library: l.Library}
	for _, tt := range []struct {
		name    string
		scopes  []herb.Scope
		visible []int // positions of versions
		changes []int // number of changes of each
	}{
		{"no key", nil, []int{0, 1, 3}, []int{1, 0, 0}},
		{"reader", []herb.Scope{herb.ScopeDataRead}, []int{0, 1, 2, 3}, []int{1, 2, 2, 0}},
	} {
		reader := herb.Principal{Scopes: tt.scopes}
		ctx := library.WithReader(t.Context(), func(d herb.Dataset) bool { return reader.See(d).Values }, nil)
		history, err := l.VisibleHistory(ctx, canary())
		if err != nil || len(history) != len(tt.visible) {
			t.Fatalf("%s: %d versions, %v", tt.name, len(history), err)
		}
		for i, v := range history {
			if v.Version != names[tt.visible[i]] || len(v.Changes) != tt.changes[i] {
				t.Errorf("%s: version %d is %s with %v", tt.name, i, v.Version, v.Changes)
			}
		}
		v, err := private.AcquireVersion(ctx, canary(), names[2])
		v.Release()
		const unknown = "20240229T133000Z-abcdefghij"
		_, gone := private.AcquireVersion(ctx, canary(), unknown)
		if isGone := herb.CodeOf(err) == herb.CodeGone; isGone != (tt.scopes == nil) || isGone &&
			strings.ReplaceAll(err.Error(), names[2], unknown) != gone.Error() {
			t.Errorf("%s: the protected version gives %v, an unknown one %v", tt.name, err, gone)
		}
	}
	live, err := private.Live(t.Context())
	if err != nil || len(live) != 1 {
		t.Fatal(live, err)
	}
	// after the list was read
	if err := versionstest.PublishIn(t, l, canary().Name, herb.AccessKey,
		func(p *versions.Publication) { p.Records = versionstest.Numbers(5, nil) }); err != nil {
		t.Fatal(err)
	}
	must.NoError(t, l.Refresh(t.Context()))
	if described, err := private.Datasets(t.Context(), live, true); err != nil || len(described) > 0 {
		t.Errorf("a dataset that is protected meanwhile is described: %v, %v", described, err)
	}
}

func canary() herb.Ref { return herb.Ref{Namespace: "vault", Name: "canary"} }

// TestAcquire_protectedMeanwhile checks that a node does not list an open version without a key
// while it fetches the protected one that replaced it.
func TestAcquire_protectedMeanwhile(t *testing.T) {
	t.Parallel()
	versionstest.InCluster(t, func(t *testing.T, c *versionstest.Cluster) {
		publisher := c.Node(t, nil)
		if err := versionstest.PublishIn(t, publisher.Node, canary().Name, herb.AccessOpen, nil); err != nil {
			t.Fatal(err)
		}
		b := c.Node(t, nil).Start(t)
		versionstest.Pass(3 * time.Second)
		access := func() herb.Access {
			v, err := b.Acquire(t.Context(), canary())
			if err != nil {
				t.Fatal(err)
			}
			defer v.Release()
			return v.Access
		}
		before := access()
		shut, open := versionstest.Gate()
		c.Bucket.Set(versionstest.Only("get", shut), nil)
		if err := versionstest.PublishIn(t, publisher.Node, canary().Name, herb.AccessKey,
			func(p *versions.Publication) { p.Records = versionstest.Numbers(2, nil) }); err != nil {
			t.Fatal(err)
		}
		versionstest.Pass(3 * time.Second)
		versionstest.WantListed(t, b.Node, canary(), 1)
		live, err := b.Live(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		described, err := b.Datasets(t.Context(), live, true)
		if err != nil || len(described) != 1 {
			t.Fatal(described, err)
		}
		if got := access(); before != herb.AccessOpen || got != herb.AccessKey ||
			described[0].Access != herb.AccessKey {
			t.Errorf("access %s, then %s, described as %s", before, got, described[0].Access)
		}
		open()
	})
}

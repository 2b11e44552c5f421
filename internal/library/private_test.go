package library_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/library"
)

// TestPrivate compares what readers see of an open dataset, one that requires a key, and one that
// does not exist.
func TestPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := openLibrary(t, openDB(t, dir), library.Options{Dir: dir})
	for name, access := range map[string]herb.Access{"open": herb.AccessOpen, "secret": herb.AccessKey, "default": ""} {
		if err := put(t, l, name, access, nil); err != nil {
			t.Fatal(err)
		}
	}
	private := library.Private{Library: l}
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
		{"no reader", t.Context(), "open", nil},
		{"reader of another dataset", reader("other"), "open", nil},
		{"reader", reader("secret"), "open secret", nil},
		{"reader of all", reader("secret", "default"), "default open secret", nil},
		{"unknown reader", library.WithReader(t.Context(), nil, down), "open", down},
	} {
		live, err := private.Live(tt.ctx)
		found, searchErr := private.Search(tt.ctx, "vault", "")
		var names []string
		for _, v := range live {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != tt.live || len(found) != len(live) || !errors.Is(err, tt.err) || !errors.Is(searchErr, tt.err) {
			t.Errorf("%s: %q and %d found, errors %v and %v; want %q", tt.name, got, len(found), err, searchErr, tt.live)
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
			_, historyErr := private.History(tt.ctx, ref)
			_, versionErr := private.AcquireVersion(tt.ctx, ref, "20240229T133000Z-abcdefghij")
			for _, err := range []error{err, historyErr, versionErr} {
				got := herb.CodeOf(err)
				if want == "" && (err == nil || got == herb.CodeGone || tt.err != nil && errors.Is(err, tt.err)) {
					continue
				}
				if got != want {
					t.Errorf("%s: %s gives the error %v, want %s", tt.name, ref, err, want)
				}
				if got == herb.CodeNotFound && strings.Contains(strings.ReplaceAll(err.Error(), ref.String(), ""), "secret") && !strings.Contains(tt.live, "secret") {
					t.Errorf("%s: the error for %s tells the name of another dataset: %v", tt.name, ref, err)
				}
			}
		}
	}
}

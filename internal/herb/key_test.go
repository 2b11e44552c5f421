package herb_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

func TestParseScope(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"plants:write", "data:read", "data:read:garden/catalog", "data:read:garden/*", "data:read:store/plants",
		"data:read:a.b-c_d/0", "publish", "publish:garden/catalog", "publish:garden/*",
	} {
		if got, err := herb.ParseScope(s); err != nil || got != herb.Scope(s) {
			t.Errorf("ParseScope(%q) = %q, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", "plants", "plants:read", "plants:write ", "Plants:Write", "*", "data:*", "data:read:", "data:read:garden",
		"data:read:garden/", "data:read:/catalog",
		"data:read:*/catalog", "data:read:*/*", "data:read:garden/catalog/x", "data:read:garden/cat*",
		"data:read:Garden/catalog", "data:read garden/*", "publish:", "publish:garden", "publish:*/*",
		"plants:write:garden/*",
	} {
		_, err := herb.ParseScope(s)
		if herb.CodeOf(err) != herb.CodeInvalid || err == nil {
			t.Errorf("ParseScope(%q) gives %v", s, err)
		}
	}
	_, err := herb.ParseScope("data:write")
	want := `unknown scope "data:write"; valid scopes: plants:write, data:read, data:read:<namespace>/<dataset>, ` +
		`data:read:<namespace>/*, publish, publish:<namespace>/<dataset>, publish:<namespace>/*`
	if herb.MessageOf(err) != want {
		t.Errorf("the message is %q, want %q", herb.MessageOf(err), want)
	}
}

func TestPrincipalMay(t *testing.T) {
	t.Parallel()
	ref := herb.Ref{Namespace: "garden", Name: "catalog"}
	want := []herb.Scope{"data:read:garden/catalog", "data:read:garden/*", "data:read"}
	if diff := cmp.Diff(want, ref.ReadScopes()); diff != "" {
		t.Errorf("ReadScopes (-want +got):\n%s", diff)
	}
	for _, c := range []struct {
		scope       herb.Scope
		read, write bool
	}{
		{"data:read", true, false},
		{"data:read:garden/*", true, false},
		{"data:read:garden/catalog", true, false},
		{"data:read:garden/catalogs", false, false},
		{"data:read:gardens/*", false, false},
		{"data:read:other/catalog", false, false},
		{"plants:write", false, true},
		{"", false, false},
	} {
		p := herb.Principal{ID: "k", Scopes: []herb.Scope{c.scope}}
		if got := p.May(ref.ReadScopes()...); got != c.read {
			t.Errorf("scopes %q permit reading: %t, want %t", c.scope, got, c.read)
		}
		if got := p.May(herb.ScopePlantsWrite); got != c.write {
			t.Errorf("scopes %q permit writing: %t, want %t", c.scope, got, c.write)
		}
	}
	all := herb.Principal{Scopes: herb.AllScopes()}
	if !all.May(ref.ReadScopes()...) || !all.May(herb.ScopePlantsWrite) {
		t.Error("all scopes do not permit everything")
	}
	if (herb.Principal{}).May(ref.ReadScopes()...) || all.May() {
		t.Error("no scope permits something")
	}
}

func TestKeyStatus(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		key  herb.Key
		want string
	}{
		{"forever", herb.Key{}, "active"},
		{"not yet", herb.Key{Expires: now.Add(time.Nanosecond)}, "active"},
		{"just now", herb.Key{Expires: now}, "expired"},
		{"long ago", herb.Key{Expires: now.AddDate(-1, 0, 0)}, "expired"},
		{"revoked", herb.Key{Revoked: now}, "revoked"},
		{"revoked before it expires", herb.Key{Revoked: now, Expires: now.Add(time.Hour)}, "revoked"},
		{"revoked and expired", herb.Key{Revoked: now, Expires: now.Add(-time.Hour)}, "revoked"},
	} {
		if got := c.key.Status(now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

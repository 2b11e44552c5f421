package herb_test

import (
	"testing"

	"herbarium/internal/herb"
)

// TestSee checks what holders of keys may see of a version, and of a kept version beside the live
// one.
func TestSee(t *testing.T) {
	t.Parallel()
	version := func(access herb.Access, public bool) herb.Dataset {
		d := herb.Dataset{Ref: herb.Ref{Namespace: "shop", Name: "prices"}, Access: access}
		d.Settings = &herb.Settings{Public: public}
		return d
	}
	open, public, locked, lockedPublic := version(herb.AccessOpen, false), version(herb.AccessOpen, true),
		version(herb.AccessKey, false), version(herb.AccessKey, true)
	bare, unknown := herb.Dataset{Ref: open.Ref, Access: herb.AccessOpen}, herb.Dataset{Ref: open.Ref}
	const values, report, source = "values report ", "report ", "source"
	for _, tt := range []struct {
		name     string
		versions []herb.Dataset
		none     string // what a client without a key sees
		reader   string
		sender   string // publishes, but may not read
	}{
		{"open", []herb.Dataset{open}, values, values, values + source},
		{"open without settings", []herb.Dataset{bare}, values, values, values + source},
		{"of unknown access", []herb.Dataset{unknown}, "", values, report + source},
		{"open, public source", []herb.Dataset{public}, values + source, values + source, values + source},
		{"protected", []herb.Dataset{locked}, "", values, report + source},
		{"protected, public source", []herb.Dataset{lockedPublic}, "", values + source, report + source},
		{"protected beside open", []herb.Dataset{locked, public}, "", values, report + source},
		{"open beside protected", []herb.Dataset{public, lockedPublic}, "", values + source, report + source},
		{"private source beside public", []herb.Dataset{public, open}, values, values, values + source},
	} {
		for scope, want := range map[herb.Scope]string{
			"": tt.none, herb.ScopePlantsWrite: tt.none, "data:read:shop/other": tt.none, "publish:shop/other": tt.none,
			"data:read:other/*":     tt.none,
			"data:read:shop/prices": tt.reader, "data:read:shop/*": tt.reader, herb.ScopeDataRead: tt.reader,
			"publish:shop/prices": tt.sender, "publish:shop/*": tt.sender, herb.ScopePublish: tt.sender,
		} {
			got := ""
			v := herb.Principal{Scopes: []herb.Scope{scope}}.See(tt.versions[0], tt.versions[1:]...)
			if v.Values {
				got += "values "
			}
			if v.Report {
				got += report
			}
			if v.Source {
				got += source
			}
			if got != want {
				t.Errorf("%s, scope %q: %q, want %q", tt.name, scope, got, want)
			}
		}
	}
}

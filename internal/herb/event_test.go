package herb_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
)

// TestSeeEvent checks what webhooks see of events about open and protected versions.
func TestSeeEvent(t *testing.T) {
	t.Parallel()
	open, locked := herb.EventVersion{Name: "v", Access: herb.AccessOpen},
		herb.EventVersion{Name: "v", Access: herb.AccessKey}
	before := func(v herb.EventVersion) herb.EventVersion { return herb.EventVersion{Name: "u", Access: v.Access} }
	counts := &herb.EventCounts{Added: 1}
	full := &herb.EventData{Dataset: "a/b", Version: "v", Previous: "u", Message: "m", Counts: counts}
	only := &herb.EventData{Dataset: "a/b", Version: "v", Message: "m"}
	last := &herb.EventData{Dataset: "a/b", Previous: "u"}
	for name, tt := range map[string]struct {
		version, previous herb.EventVersion
		public, protected *herb.EventData // nil: nothing
	}{
		"open after open":           {open, before(open), full, full},
		"open after protected":      {open, before(locked), only, full},
		"open after unknown":        {open, herb.EventVersion{Name: "u"}, only, full},
		"protected after open":      {locked, before(open), nil, full},
		"first":                     {open, herb.EventVersion{}, only, only},
		"removed":                   {herb.EventVersion{}, before(open), last, last},
		"removed, protected":        {herb.EventVersion{}, before(locked), nil, last},
		"rejected, without dataset": {herb.EventVersion{}, herb.EventVersion{}, nil, &herb.EventData{Dataset: "a/b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := herb.Event{Ref: herb.Ref{Namespace: "a", Name: "b"}, Version: tt.version, Previous: tt.previous}
			if e.Version.Name != "" {
				e.Message, e.Counts = "m", counts
			}
			for protected, want := range map[bool]*herb.EventData{false: tt.public, true: tt.protected} {
				got, ok := herb.Webhook{Protected: protected}.Principal().SeeEvent(e)
				if ok != (want != nil) {
					t.Fatalf("protected %t: sees the event: %t", protected, ok)
				}
				if diff := cmp.Diff(want, &got); ok && diff != "" {
					t.Errorf("protected %t (-want +got):\n%s", protected, diff)
				}
			}
		})
	}
}

func TestWebhook_Matches(t *testing.T) {
	t.Parallel()
	ref := herb.Ref{Namespace: "shop", Name: "prices"}
	for pattern, want := range map[string]string{
		"*": "true", "shop/*": "true", "shop/prices": "true", "garden/*": "false", "shop/price": "false",
		"": "invalid", "shop": "invalid", "*/prices": "invalid", "shop/**": "invalid", "shop/prices/x": "invalid",
		"shop/p*": "invalid",
	} {
		got := "invalid"
		if parsed, err := herb.ParsePattern(pattern); err == nil {
			got = fmt.Sprint(herb.Webhook{Datasets: []string{"other/set", parsed}}.Matches(ref))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", pattern, got, want)
		}
	}
}

package cli_test

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"herbarium/internal/cli"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/versions"
)

// TestConsents checks that commands have a flag for each consent, and no other flag of this kind.
func TestConsents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		command  []string
		verb     string
		consents []herb.Consent
	}{
		{[]string{"publish"}, "publish", herb.Consents()},
		{[]string{"datasets", "rollback"}, "roll back", versions.RollbackConsents()},
	} {
		cmd, _, err := cli.NewRoot().Find(tt.command)
		must.NoError(t, err)
		var want, got []string
		for _, c := range tt.consents {
			want = append(want, c.Flag()+" "+tt.verb+" "+c.Text().Help)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if len(f.Name) > 6 && f.Name[:6] == "allow-" {
				got = append(got, "--"+f.Name+" "+f.Usage)
			}
		})
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s has the flags %q, want %q", tt.command, got, want)
		}
	}
}

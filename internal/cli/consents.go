package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"herbarium/internal/herb"
)

// addConsents adds a flag for each consent to a command that does what verb says. It returns a
// function that returns the given ones after the flags were parsed.
func addConsents(flags *pflag.FlagSet, verb string, consents []herb.Consent) func() []herb.Consent {
	given := map[herb.Consent]*bool{}
	for _, c := range consents {
		given[c] = flags.Bool(strings.TrimPrefix(c.Flag(), "--"), false, verb+" "+c.Text().Help)
	}
	return func() []herb.Consent {
		return slices.DeleteFunc(slices.Clone(consents), func(c herb.Consent) bool { return !*given[c] })
	}
}

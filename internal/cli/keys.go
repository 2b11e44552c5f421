package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/access"
	"herbarium/internal/app"
	"herbarium/internal/herb"
)

func newKeys(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke keys",
		Long: `A key is sent as bearer token with POST /plants, and as API key with datasets that need one. It works as soon as it is
created and stops within a second of being revoked, also on servers that are running. Its secret is shown once.`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysCreate(r), newKeysList(r), newKeysRevoke(r))
	return cmd
}

func newKeysCreate(r *runner) *cobra.Command {
	var name, expires string
	var scopes []string
	cmd := &cobra.Command{
		Use:   "create --name NAME --scope SCOPE…",
		Short: "Create a key and print its secret, this once",
		Long: `Creates a key. Only the secret goes to standard output, so that it can be caught in a variable; the rest goes to standard
error.

Scopes:
  plants:write                       create plants
  data:read                          list every dataset that needs a key
  data:read:<namespace>/<dataset>    list one of them
  data:read:<namespace>/*            list those of a namespace`,
		Example: `  TOKEN=$(herbarium keys create --name nursery --scope plants:write)
  herbarium keys create --name partner --scope data:read:shop/prices --expires 90d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.createKey(cmd, name, scopes, expires)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the key is for, to know it again by")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "what the key permits; may be repeated")
	cmd.Flags().StringVar(&expires, "expires", "", "`time` after which the key stops working, such as 90d or 12h, or a date (default: never)")
	_ = cmd.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(
		[]string{string(herb.ScopePlantsWrite), string(herb.ScopeDataRead)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (r *runner) createKey(cmd *cobra.Command, name string, scopes []string, expires string) error {
	if strings.TrimSpace(name) == "" {
		return usagef("give the key a name with --name")
	}
	if len(scopes) == 0 {
		return usagef("say what the key permits with --scope: plants:write, data:read, data:read:<namespace>/<dataset> or data:read:<namespace>/*")
	}
	var parsed []herb.Scope
	for _, s := range scopes {
		scope, err := herb.ParseScope(s)
		if err != nil {
			return &usageError{err}
		}
		if !slices.Contains(parsed, scope) {
			parsed = append(parsed, scope)
		}
	}
	now := time.Now()
	var until time.Time
	if expires != "" {
		var err error
		if until, err = parseExpiry(expires, now); err != nil {
			return err
		}
	}
	return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
		secret, key := access.Mint(name, parsed, now, until)
		if err := d.Store.AddKey(ctx, key); err != nil {
			return err
		}
		fmt.Fprintf(r.Err, "Created key %s (%s) with %s, which %s.\nThe secret is shown this once; keep it safe.\n",
			key.ID, key.Name, joinScopes(key.Scopes), expiry(key))
		_, err := fmt.Fprintln(r.Out, secret)
		return err
	})
}

// parseExpiry reads when a key ends: after a time, in which days and weeks may be used too, or at the start of a day.
func parseExpiry(s string, now time.Time) (time.Time, error) {
	wrong := usagef("--expires is %q; write a number with a unit, such as 90d, 8w, 12h or 30m, or a date to come, such as 2030-01-31", s)
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		if !day.After(now) {
			return time.Time{}, wrong
		}
		return day, nil
	}
	d, ok := parsePeriod(s)
	if !ok {
		return time.Time{}, wrong
	}
	return now.Add(d), nil
}

// parsePeriod parses a period of time such as 30m, 12h, 90d or 8w, of a hundred years at most.
func parsePeriod(s string) (_ time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{
		's': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour,
	}[s[len(s)-1]]
	n, err := strconv.Atoi(s[:len(s)-1])
	const longest = 100 * 365 * 24 * time.Hour
	if !ok || err != nil || n < 1 || n > int(longest/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

func expiry(k herb.Key) string {
	if k.Expires.IsZero() {
		return "does not expire"
	}
	return "expires " + k.Expires.Format(time.RFC3339)
}

func joinScopes(scopes []herb.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

func newKeysList(r *runner) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys there are",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				keys, err := d.Store.Keys(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return r.keysAsJSON(keys)
				}
				return r.keysAsTable(keys)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one key a line")
	return cmd
}

func (r *runner) keysAsTable(keys []herb.Key) error {
	if len(keys) == 0 {
		fmt.Fprintln(r.Err, "There are no keys. Create one with: herbarium keys create --name NAME --scope SCOPE")
		return nil
	}
	day := func(t time.Time, none string) string {
		if t.IsZero() {
			return none
		}
		return t.Format("2006-01-02 15:04")
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSTATUS\tSCOPES\tCREATED\tEXPIRES\tLAST USED")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, k.Status(time.Now()), joinScopes(k.Scopes),
			day(k.Created, ""), day(k.Expires, "never"), day(k.LastUsed, "never"))
	}
	return w.Flush()
}

func (r *runner) keysAsJSON(keys []herb.Key) error {
	enc := json.NewEncoder(r.Out)
	for _, k := range keys {
		err := enc.Encode(struct {
			ID       string       `json:"id"`
			Name     string       `json:"name"`
			Status   string       `json:"status"`
			Scopes   []herb.Scope `json:"scopes"`
			Created  time.Time    `json:"created"`
			Expires  time.Time    `json:"expires,omitzero"`
			Revoked  time.Time    `json:"revoked,omitzero"`
			LastUsed time.Time    `json:"last_used,omitzero"`
		}{k.ID, k.Name, k.Status(time.Now()), k.Scopes, k.Created, k.Expires, k.Revoked, k.LastUsed})
		if err != nil {
			return err
		}
	}
	return nil
}

func newKeysRevoke(r *runner) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke KEY",
		Short: "Revoke a key, for good",
		Long:  "Revokes the key with that id, or with that name where only one key in use has it, or the one whose secret this is.",
		Example: `  herbarium keys revoke nursery
  herbarium keys revoke k7q2mzx4ab`,
		Args: exactly(1, "the id or the name of one key; 'herbarium keys list' shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				key, err := findKey(ctx, d, args[0])
				if err != nil {
					return err
				}
				if err := d.Store.RevokeKey(ctx, key.ID, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(r.Err, "Revoked key %s (%s). Servers refuse it within a second.\n", key.ID, key.Name)
				return nil
			})
		},
	}
}

// findKey finds the key that is meant by an id, a name or a secret.
func findKey(ctx context.Context, d *app.Data, word string) (herb.Key, error) {
	if id, ok := access.ID(word); ok {
		word = id
	}
	keys, err := d.Store.Keys(ctx)
	if err != nil {
		return herb.Key{}, err
	}
	var named []herb.Key
	for _, k := range keys {
		if k.ID == word {
			return k, nil
		}
		if k.Name == word && k.Revoked.IsZero() {
			named = append(named, k)
		}
	}
	switch len(named) {
	case 1:
		return named[0], nil
	case 0:
		return herb.Key{}, herb.Errorf(herb.CodeNotFound, "there is no key %q; 'herbarium keys list' shows those there are", word)
	}
	ids := make([]string, len(named))
	for i, k := range named {
		ids[i] = k.ID
	}
	return herb.Key{}, herb.Invalidf("%d keys are called %q; give one of the ids %s", len(named), word, strings.Join(ids, ", "))
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/access"
	"herbarium/internal/app"
	"herbarium/internal/herb"
)

func newKeys(r *runner) *cobra.Command {
	return setParent(&cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke keys",
		Long: `Clients send a key as bearer token with POST /plants, and as API key with datasets that require one. Running servers accept
a new key and reject a revoked key as soon as the command has finished. A key is shown only once, when it is created.`,
		Example: `  TOKEN=$(herbarium keys create --name nursery --scope plants:write)
  herbarium keys list
  herbarium keys revoke nursery`,
	}, newKeysCreate(r), newKeysList(r), newKeysRevoke(r))
}

func newKeysCreate(r *runner) *cobra.Command {
	var name, expires string
	var scopes []string
	cmd := &cobra.Command{
		Use:   "create --name NAME --scope SCOPE…",
		Short: "Create a key and print it",
		Long: `Create a key. Only the key is printed to standard output, so that you can assign it to a variable. It cannot be shown again.
Other output goes to standard error. With --json, standard output contains one JSON object with the key and its properties.

Scopes:
  plants:write                       create plants
  data:read                          list every dataset that requires a key
  data:read:<namespace>/<dataset>    list this dataset
  data:read:<namespace>/*            list the datasets of this namespace
  publish                            publish every dataset over HTTP
  publish:<namespace>/<dataset>      publish this dataset
  publish:<namespace>/*              publish the datasets of this namespace`,
		Example: `  TOKEN=$(herbarium keys create --name nursery --scope plants:write)
  herbarium keys create --name ci --scope publish:shop/prices
  herbarium keys create --name partner --scope data:read:shop/prices --expires 90d`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.createKey(cmd, name, scopes, expires) },
	}
	cmd.Flags().StringVar(&name, "name", "", "descriptive `name`")
	cmd.Flags().StringSliceVar(&scopes, "scope", nil, "`scope` that the key grants; can be repeated")
	stringFlag(cmd, &expires, "expires",
		"expiry `time`: a duration such as 90d or 12h, or a date such as 2030-01-31 (default: never)",
		offer("12h", "30d", "90d", "52w"))
	return r.jsonFlag(cmd, ", with the key")
}

func (r *runner) createKey(cmd *cobra.Command, name string, scopes []string, expires string) error {
	if strings.TrimSpace(name) == "" {
		return usagef("--name is required")
	}
	if len(scopes) == 0 {
		return usagef("--scope is required; valid scopes: plants:write; data:read and publish, each also for one " +
			"dataset, as in publish:<namespace>/<dataset>, or a namespace, as in data:read:<namespace>/*")
	}
	var parsed []herb.Scope
	for _, s := range scopes {
		scope, err := herb.ParseScope(s)
		if err != nil {
			return usage(err)
		}
		if !slices.Contains(parsed, scope) {
			parsed = append(parsed, scope)
		}
	}
	now := time.Now()
	until, err := parseTime("expires", expires, now, 1)
	if err != nil {
		return err
	}
	return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
		secret, key := access.Mint(name, parsed, now, until)
		if err := d.Store.AddKey(ctx, key); err != nil {
			return err
		}
		expiry := "does not expire"
		if !key.Expires.IsZero() {
			expiry = "expires " + key.Expires.Format(time.RFC3339)
		}
		fmt.Fprintf(r.Err, "Created key %s (%s) with scope %s; it %s.\nThe key cannot be shown again; store it "+
			"safely.\n",
			key.ID, printable(key.Name), herb.JoinScopes(key.Scopes, ","), expiry)
		type created struct {
			Secret string `json:"key"`
			keyJSON
		}
		return r.print(created{secret, newKeyJSON(key)}, "%s", secret)
	})
}

// parseTime parses the value of a flag: a date, a time, or a period (see herb.ParsePeriod) before
// now if sign is -1, or after it if sign is 1. A time in the past is then invalid. An empty value
// is the zero time.
func parseTime(flag, s string, now time.Time, sign time.Duration) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, format := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(format, s); err == nil && (sign < 0 || at.After(now)) {
			return at, nil
		}
	}
	if d, ok := herb.ParsePeriod(s); ok {
		return now.Add(sign * d), nil
	}
	const valid = "use a number with a unit, such as 90d, 8w, 12h or 30m, or a %s, such as 2030-01-31 or " +
		"2030-01-31T09:00:00Z"
	kind := map[bool]string{true: "date", false: "future date"}[sign < 0]
	return time.Time{}, usagef("invalid --%s %q; "+valid, flag, s, kind)
}

func newKeysList(r *runner) *cobra.Command {
	return r.jsonFlag(&cobra.Command{
		Use:   "list",
		Short: "List the keys",
		Long: "List all keys, including expired and revoked ones. The keys themselves are not stored and cannot be " +
			"shown.",
		Example: `  herbarium keys list
  herbarium keys list --json | jq -r 'select(.status == "active").name'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.withData(cmd, r.listKeys) },
	}, ", one key per line")
}

func (r *runner) listKeys(ctx context.Context, d *app.Data) error {
	keys, err := d.Store.Keys(ctx)
	if err == nil && len(keys) == 0 && !r.asJSON {
		fmt.Fprintln(r.Err, "No keys. Create one with: herbarium keys create --name NAME --scope SCOPE")
	}
	if err != nil || len(keys) == 0 {
		return err
	}
	return printList(r, keys, newKeyJSON, "ID\tNAME\tSTATUS\tSCOPES\tCREATED\tEXPIRES\tLAST USED",
		func(k herb.Key) []any {
			return []any{k.ID, k.Name, k.Status(time.Now()), herb.JoinScopes(k.Scopes, ","), minute(k.Created, ""),
				minute(k.Expires, "never"),
				minute(k.LastUsed, "never")}
		})
}

// keyJSON is the output of a key with --json: its members without the hash.
type keyJSON struct {
	herb.Key
	Status string `json:"status"`
	Hash   *bool  `json:"sha256,omitempty"` // replaces the hash, and is never set
}

func newKeyJSON(k herb.Key) keyJSON { return keyJSON{Key: k, Status: k.Status(time.Now())} }

func newKeysRevoke(r *runner) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke KEY",
		Short: "Revoke a key permanently",
		Long: `Revoke a key. KEY is its ID, its name if no other key in use has the same name, or the key itself. A key cannot be reinstated.
When the command has finished, all servers that can reach the database reject the key.`,
		Example: `  herbarium keys revoke nursery
  herbarium keys revoke k7q2mzx4ab`,
		Args: expectArgs(1, 1, "the ID or the name of one key; 'herbarium keys list' shows them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				key, err := lookupKey(ctx, d, args[0])
				if err != nil {
					return err
				}
				if err := d.Store.RevokeKey(ctx, key.ID, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(r.Err, "Revoked key %s (%s).\n", key.ID, printable(key.Name))
				select { // servers may have read the keys just before
				case <-time.After(access.RevocationDelay):
				case <-ctx.Done():
				}
				return nil
			})
		},
	}
}

// lookupKey returns the key with the given ID, name or secret.
func lookupKey(ctx context.Context, d *app.Data, word string) (herb.Key, error) {
	if id, ok := access.ID(word); ok {
		word = id
	}
	keys, err := d.Store.Keys(ctx)
	if err != nil {
		return herb.Key{}, err
	}
	var named herb.Key
	var ids []string
	for _, k := range keys {
		if k.ID == word {
			return k, nil
		}
		if k.Name == word && k.Revoked.IsZero() {
			named, ids = k, append(ids, k.ID)
		}
	}
	switch len(ids) {
	case 0:
		return named, herb.Errorf(herb.CodeNotFound, "no such key %q; 'herbarium keys list' shows all keys", word)
	case 1:
		return named, nil
	}
	return named, herb.Invalidf("%d keys are named %q; use one of the IDs %s", len(ids), word, strings.Join(ids, ", "))
}

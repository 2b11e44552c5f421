package cli

import (
	"context"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
)

// commandLineActor identifies who runs a command: the user of the operating system, on this
// machine.
func commandLineActor() herb.Actor {
	a := herb.Actor{ID: "uid " + strconv.Itoa(os.Getuid()), Origin: "unknown host command line"}
	if u, err := user.Current(); err == nil && u.Username != "" {
		a.ID = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		a.Origin = host + " command line"
	}
	return a
}

func newAudit(r *runner) *cobra.Command {
	var since, dataset string
	var limit int
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who changed keys, datasets and webhooks",
		Long: `Print the audit log, newest entry last: keys created and revoked; datasets published, rolled back and removed; webhooks added
and removed; by whom, from where and with what result. Rejected and failed publishes are included, with the kind of error. The
log contains no keys and no dataset values. Entries are kept for a year, at most 100,000 of them.

Actions: key.create, key.revoke, dataset.publish, dataset.rollback, dataset.remove, webhook.add, webhook.remove,
webhook.disable. Results: ok, rejected, failed.`,
		Example: `  herbarium audit
  herbarium audit --since 7d --dataset garden/catalog
  herbarium audit --since 2026-01-31 --limit 0 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := herb.AuditQuery{Limit: limit}
			if limit < 0 {
				return usagef("invalid --limit %d; use a number of entries, or 0 for all", limit)
			}
			var err error
			q.Since, err = parseTime("since", since, time.Now(), -1)
			if err != nil {
				return err
			}
			if dataset != "" {
				ref, err := herb.ParseRef(dataset)
				if err != nil {
					return usage(err)
				}
				q.Subject = ref.String()
			}
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error { return r.printAudit(ctx, d, q) })
		},
	}
	stringFlag(cmd, &since, "since",
		"only entries since this `time`: a duration such as 7d or 12h, or a date such as 2026-01-31",
		offer("1h", "1d", "7d", "30d"))
	stringFlag(cmd, &dataset, "dataset", "only entries of this `namespace/dataset`", r.completeDataset())
	cmd.Flags().IntVar(&limit, "limit", 100, "print at most this `number` of the newest entries; 0 prints all")
	return r.jsonFlag(cmd, ", one entry per line")
}

func (r *runner) printAudit(ctx context.Context, d *app.Data, q herb.AuditQuery) error {
	entries, err := d.Store.AuditEntries(ctx, q)
	if err != nil {
		return err
	}
	const header = "TIME\tACTION\tSUBJECT\tRESULT\tACTOR\tORIGIN\tDETAIL"
	return printList(r, entries, func(e herb.AuditEntry) any { return e }, header, func(e herb.AuditEntry) []any {
		return []any{e.Time.Format(time.RFC3339), e.Action, printable(e.Subject), e.Result, printable(e.Actor),
			printable(e.Origin),
			printable(e.Detail)}
	})
}

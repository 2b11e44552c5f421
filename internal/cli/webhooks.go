package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/webhooks"
)

func newWebhooks(r *runner) *cobra.Command {
	return setParent(&cobra.Command{
		Use:   "webhooks",
		Short: "Send events about datasets to other programs",
		Long: `Send events about datasets to the endpoints of other programs, as Standard Webhooks 1.0.0 specifies. Running servers deliver the
events of all servers and commands, each at least once, with ten attempts over three days.

Events: dataset.published, dataset.rolled_back, dataset.rejected (a publish that would break users of the live version),
dataset.failed (a publish that failed, such as that of a file that cannot be read), dataset.removed, dataset.overdue
(no version followed for two periods that the descriptor declares as expected).`,
		Example: `  SECRET=$(herbarium webhooks add https://example.org/hook --dataset 'shop/*')
  herbarium webhooks list
  herbarium webhooks deliveries`,
	}, newWebhooksAdd(r), newWebhooksList(r), newWebhooksTest(r), newWebhooksRemove(r), newWebhooksDeliveries(r),
		newWebhooksResend(r))
}

func newWebhooksAdd(r *runner) *cobra.Command {
	w := herb.Webhook{}
	cmd := &cobra.Command{
		Use:   "add URL --dataset DATASET…",
		Short: "Add a webhook and print its secret",
		Long: `Add a webhook. Only the secret that signs its events is printed to standard output, so that you can assign it to a variable. It
cannot be shown again. Other output goes to standard error. With --json, standard output contains one JSON object with the
secret and the properties of the webhook.

DATASET is <namespace>/<dataset>, <namespace>/* or *. A webhook receives events about datasets that require a key only with
--protected: their counts, versions and messages then leave this server.

URL must begin with https:// and lead to a public address. --allow-private permits other addresses, and http://.`,
		Example: `  SECRET=$(herbarium webhooks add https://example.org/hook --dataset shop/prices --dataset 'garden/*')
  herbarium webhooks add https://example.org/hook --dataset '*' --protected
  herbarium webhooks add http://10.0.0.7:9000/hook --dataset '*' --allow-private`,
		Args: expectArgs(1, 1, "the URL of one endpoint"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.URL = herb.Address(args[0])
			return r.addWebhook(cmd, w)
		},
	}
	cmd.Flags().StringSliceVar(&w.Datasets, "dataset", nil, "`datasets` whose events are sent; can be repeated")
	cmd.Flags().BoolVar(&w.Protected, "protected", false, "also send events about datasets that require a key")
	cmd.Flags().BoolVar(&w.Private, "allow-private", false, "permit addresses that are not public, and http://")
	completeFlag(cmd, "dataset", r.completeDataset())
	return r.jsonFlag(cmd, ", with the secret")
}

func (r *runner) addWebhook(cmd *cobra.Command, w herb.Webhook) error {
	if len(w.Datasets) == 0 {
		return usagef("--dataset is required; write <namespace>/<dataset>, <namespace>/* or *")
	}
	for i, d := range w.Datasets {
		pattern, err := herb.ParsePattern(d)
		if err != nil {
			return usage(err)
		}
		w.Datasets[i] = pattern
	}
	if err := webhooks.CheckURL(string(w.URL), w.Private); err != nil {
		if webhooks.CheckURL(string(w.URL), true) == nil {
			err = fmt.Errorf("%w; --allow-private permits it", err)
		}
		return usage(err)
	}
	w.ID, w.Secret, w.Created = webhooks.NewID(), webhooks.NewSecret(), time.Now()
	return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
		if err := rejectProtected(ctx, d, w); err != nil {
			return err
		}
		target, err := url.Parse(string(w.URL))
		if err != nil {
			return err
		}
		if err := d.Store.AddWebhook(ctx, w, fmt.Sprintf("host %s, datasets %s, protected %t", target.Host,
			strings.Join(w.Datasets, ","), w.Protected)); err != nil {
			return err
		}
		fmt.Fprintf(r.Err, "Added webhook %s for %s.\nThe secret cannot be shown again; store it safely. Try it "+
			"with: herbarium webhooks test %s\n",
			w.ID, strings.Join(w.Datasets, ", "), w.ID)
		type added struct {
			Secret string `json:"secret"`
			herb.Webhook
		}
		return r.print(added{string(w.Secret), w}, "%s", string(w.Secret))
	})
}

// rejectProtected fails if a webhook names a dataset whose events it would not receive.
func rejectProtected(ctx context.Context, d *app.Data, w herb.Webhook) error {
	live, err := d.Library.Live(ctx)
	for _, v := range live {
		if !w.Protected && v.Access.NeedsKey() && slices.Contains(w.Datasets, v.Ref.String()) {
			return usagef("%s requires a key; add --protected if its events may leave this server", v.Ref)
		}
	}
	return err
}

func newWebhooksList(r *runner) *cobra.Command {
	return r.jsonFlag(&cobra.Command{
		Use:   "list",
		Short: "List the webhooks",
		Long: "List all webhooks, including disabled ones. Their secrets, and passwords and tokens in their URLs, " +
			"are not shown.",
		Example: `  herbarium webhooks list
  herbarium webhooks list --json | jq -r .id`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return r.withData(cmd, r.listWebhooks) },
	}, ", one webhook per line")
}

func (r *runner) listWebhooks(ctx context.Context, d *app.Data) error {
	all, err := d.Store.Webhooks(ctx)
	if err == nil && len(all) == 0 && !r.asJSON {
		fmt.Fprintln(r.Err, "No webhooks. Add one with: herbarium webhooks add URL --dataset DATASET")
	}
	if err != nil || len(all) == 0 {
		return err
	}
	yes := map[bool]string{true: "yes", false: "-"}
	return printList(r, all, func(w herb.Webhook) any { return w }, "ID\tURL\tDATASETS\tPROTECTED\tCREATED\tDISABLED",
		func(w herb.Webhook) []any {
			return []any{w.ID, w.URL, strings.Join(w.Datasets, ","), yes[w.Protected], minute(w.Created, ""),
				minute(w.Disabled, "-")}
		})
}

// webhookCommand returns a command whose argument is the ID of a webhook.
func webhookCommand(r *runner, cmd *cobra.Command,
	run func(ctx context.Context, d *app.Data, w herb.Webhook) error) *cobra.Command {
	cmd.Args = expectArgs(1, 1, "the ID of one webhook; 'herbarium webhooks list' shows it")
	cmd.ValidArgsFunction = completeArgs(r.completeWebhook())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
			w, err := lookupWebhook(ctx, d, args[0])
			if err != nil {
				return err
			}
			return run(ctx, d, w)
		})
	}
	return cmd
}

func lookupWebhook(ctx context.Context, d *app.Data, id string) (herb.Webhook, error) {
	all, err := d.Store.Webhooks(ctx)
	for _, w := range all {
		if w.ID == id {
			return w, nil
		}
	}
	if err == nil {
		err = herb.Errorf(herb.CodeNotFound, "no such webhook %q; 'herbarium webhooks list' shows all webhooks", id)
	}
	return herb.Webhook{}, err
}

func (r *runner) completeWebhook() completion {
	return r.completeData(0, func(ctx context.Context, d *app.Data, _ herb.Ref, _ string) (values []string, err error) {
		all, err := d.Store.Webhooks(ctx)
		for _, w := range all {
			values = append(values, w.ID+"\t"+printable(w.URL.String()))
		}
		return values, err
	})
}

func newWebhooksTest(r *runner) *cobra.Command {
	return webhookCommand(r, &cobra.Command{
		Use:   "test WEBHOOK",
		Short: "Send a test event from this machine",
		Long: `Send an event of the type webhook.test from this machine, once, and print the result. The exit code is 1 if the endpoint does not
accept it.`,
		Example: "  herbarium webhooks test k7q2mzx4ab",
	}, func(ctx context.Context, _ *app.Data, w herb.Webhook) error {
		m, err := webhooks.NewTestMessage(w, time.Now())
		if err != nil {
			return err
		}
		if !w.Disabled.IsZero() {
			fmt.Fprintf(r.Err, "The webhook is disabled since %s and gets no other events; add it again to enable it.\n", minute(w.Disabled, ""))
		}
		result := webhooks.NewSender(webhooks.SenderOptions{Program: "Herbarium/" + Version()}).Send(ctx, w, m)
		if !result.Delivered() {
			return fmt.Errorf("not delivered: %s", result)
		}
		_, err = fmt.Fprintf(r.Out, "delivered: %s\n", result)
		return err
	})
}

func newWebhooksRemove(r *runner) *cobra.Command {
	return webhookCommand(r, &cobra.Command{
		Use:     "remove WEBHOOK",
		Short:   "Remove a webhook and its deliveries",
		Long:    "Remove a webhook. Events that are not delivered yet are not sent any more.",
		Example: "  herbarium webhooks remove k7q2mzx4ab",
	}, func(ctx context.Context, d *app.Data, w herb.Webhook) error {
		if err := d.Store.RemoveWebhook(ctx, w.ID); err != nil {
			return err
		}
		fmt.Fprintf(r.Err, "Removed webhook %s.\n", w.ID)
		return nil
	})
}

func newWebhooksResend(r *runner) *cobra.Command {
	var events []string
	cmd := webhookCommand(r, &cobra.Command{
		Use:   "resend WEBHOOK",
		Short: "Send events that were not delivered now",
		Long: `Send the events of a webhook that were not delivered, as soon as a server runs, instead of at their next attempt: those that wait
for it, and those that were given up. They have all attempts again. Run it when an endpoint works again after an outage. With
--event, only these events are sent, also if they were delivered.`,
		Example: `  herbarium webhooks resend k7q2mzx4ab
  herbarium webhooks resend k7q2mzx4ab --event msg_4xk2r7w3q6zt5yb2m4n6p7s3vd`,
	}, func(ctx context.Context, d *app.Data, w herb.Webhook) error {
		n, err := d.Store.ResendDeliveries(ctx, w.ID, events, time.Now())
		switch {
		case err != nil:
			return err
		case n == 0 && len(events) > 0:
			return herb.Errorf(herb.CodeNotFound,
				"%s has no such event; 'herbarium webhooks deliveries %s --json' lists the id of each", w.ID, w.ID)
		}
		fmt.Fprintf(r.Out, "%s will be sent\n", herb.Plural(int(n), "event", "events"))
		return nil
	})
	cmd.Flags().StringSliceVar(&events, "event", nil, "`ID` of an event to send; can be repeated")
	return cmd
}

func newWebhooksDeliveries(r *runner) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "deliveries [WEBHOOK]",
		Short: "Show what was sent to webhooks",
		Long: `Show the events of one webhook or of all, newest last: pending and retrying ones with the time of the next attempt; retrying,
delivered and failed ones with the result of the last attempt. They are kept for 14 days, at most 100,000 of all webhooks.`,
		Example: `  herbarium webhooks deliveries
  herbarium webhooks deliveries k7q2mzx4ab --json | jq 'select(.state == "failed")'`,
		Args:              expectArgs(0, 1, "at most one ID of a webhook"),
		ValidArgsFunction: completeArgs(r.completeWebhook()),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return usagef("invalid --limit %d; use a number from 1", limit)
			}
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				id := strings.Join(args, "")
				if id != "" {
					if _, err := lookupWebhook(ctx, d, id); err != nil {
						return err
					}
				}
				return r.listDeliveries(ctx, d, id, limit)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 100, "show at most this `number` of the newest events")
	return r.jsonFlag(cmd, ", one event per line")
}

func (r *runner) listDeliveries(ctx context.Context, d *app.Data, id string, limit int) error {
	all, err := d.Store.Deliveries(ctx, id, limit)
	if err != nil || len(all) == 0 {
		return err
	}
	const header = "TIME\tWEBHOOK\tTYPE\tDATASET\tSTATE\tATTEMPTS\tNEXT\tRESULT"
	return printList(r, all, func(d store.Delivery) any { return d }, header, func(d store.Delivery) []any {
		return []any{d.Created.Format(time.RFC3339), d.Webhook, d.Type, d.Data.Dataset, d.State, d.Attempts,
			formatTime(d.Due, time.RFC3339, "-"), d.Result}
	})
}

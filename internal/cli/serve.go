package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/telemetry"
)

func newServe(r *runner) *cobra.Command {
	var given readFlags
	cmd := &cobra.Command{
		Use:   "serve [PATH…]",
		Short: "Publish files and start the server",
		Long: `Publish the given files and folders and serve everything in the data folder. A file X/Y.csv becomes dataset x/y. In a
folder, all tables are published, with each subfolder as a namespace; other files are skipped, and the log says why. In a
folder with a descriptor, only the tables that it lists are published. Files that have not changed are not published again. A file that cannot be read is reported, and the others are served.

How files are read is detected. Override it with --format, --delimiter, --widths, --encoding, --header, --comment and --skip, which
apply to all files without a descriptor.

With --watch, files are published again within a second of a change, once writing has finished. A file that cannot be
published leaves its dataset unchanged; the log and 'herbarium datasets list' show the reason.

The settings paths and watch, in the configuration file or the environment, replace the arguments and --watch of a service.

Everything is public by default. With --access key, datasets that do not state their access require a key; with --catalog key,
only holders of a key see that they exist.

The environment variable ` + app.TokenEnv + ` sets a key with the scopes plants:write and data:read that is kept in memory only. It may not publish.`,
		Example: `  herbarium serve examples/garden
  herbarium serve --watch examples/garden
  herbarium serve --access key --catalog key --plants off examples/garden
  herbarium serve --header none --comment '#' measurements.dat
  herbarium serve --addr :80 --data /var/lib/herbarium prices.csv`,
		RunE: func(cmd *cobra.Command, paths []string) (err error) {
			defer func() {
				if isCancellation(cmd.Context(), err) { // a signal before the server was ready
					err = nil
				}
			}()
			c, err := r.placedConfig(cmd)
			if err != nil {
				return err
			}
			if len(paths) == 0 {
				paths = c.Paths
			}
			var watched []string
			if c.Watch {
				watched = paths
				if len(paths) == 0 {
					return usagef("--watch needs at least one file or folder, as argument or in the setting paths")
				}
			}
			finder, err := given.finder(c.Data)
			if err != nil {
				return err
			}
			found := finder.Discover(cmd.Context(), paths)
			if err := found.Err(); err != nil && len(found.Sources) == 0 && !c.Watch {
				return err
			}
			if err := given.check(found.Sources); err != nil {
				return err
			}
			notify, _ := r.Env(app.NotifyEnv)
			return app.Serve(cmd.Context(), c, app.ServeOptions{
				Found:   found,
				Finder:  finder,
				Watch:   watched,
				Log:     telemetry.NewLog(r.Err, c.LogLevel, c.LogFormat),
				Version: Version(),
				Ready: func(addr net.Addr, datasets []herb.Dataset, total int) {
					r.banner(addr, c, datasets, total, found)
				},
				NotifySocket: notify,
			})
		},
	}
	addSettings(cmd.Flags(), groupOwn, "watch")
	cmd.ValidArgsFunction = offerPaths()
	given.add(cmd)
	addServerSettings(cmd.Flags())
	return cmd
}

// isCancellation reports whether an operation failed because its context was canceled.
func isCancellation(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)))
}

// banner prints the addresses of the server, sample requests, the files that are not served and, in
// the last line, the address to open.
func (r *runner) banner(addr net.Addr, c app.Config, datasets []herb.Dataset, total int, found descriptor.Set) {
	base := "http://" + app.Reachable(addr.String())
	var b strings.Builder
	fmt.Fprintf(&b, "Herbarium listens on %s\n\n", base)
	if c.PublicURL != "" {
		fmt.Fprintf(&b, "  Public   %s\n", c.PublicURL)
	}
	fmt.Fprintf(&b, "  Pages    %s/\n  API      %[1]s/api/v1\n  Docs     %[1]s/docs (OpenAPI: %[1]s/openapi.json)\n",
		base)
	fmt.Fprintf(&b, "  Data     %s\n\nDatasets\n", absolute(c.Data))
	for _, d := range datasets {
		key := ""
		if d.Access.NeedsKey() {
			key = "-H 'X-API-Key: …' "
		}
		fmt.Fprintf(&b, "  %s (%s)\n    curl %s'%s/api/v1/%s/data'\n", d.Ref,
			herb.Plural(d.Records, "record", "records"), key, base, d.Ref)
	}
	if more := total - len(datasets); more > 0 {
		fmt.Fprintf(&b, "  %s\n    curl '%s/api/v1'\n", herb.Plural(more, "more dataset", "more datasets"), base)
	}
	data := ""
	if c.Origins["data"] == "--data" {
		data = " --data '" + c.Data + "'"
	}
	if c.HasPlants() {
		fmt.Fprintf(&b, "\nCreate a plant\n  TOKEN=$(herbarium keys create --name me --scope plants:write%s)\n", data)
		fmt.Fprintf(&b, "  curl -H \"Authorization: Bearer $TOKEN\" --json '{\"id\":1,\"name\":\"Rose\"}' %s/plants\n",
			base)
	}
	writeSkipped(&b, found)
	fmt.Fprintf(&b, "\nOpen %s\n", r.paint(green, strings.TrimSuffix(cmp.Or(c.PublicURL, base), "/")+"/"))
	fmt.Fprint(r.Out, b.String())
}

// writeSkipped lists the first files that were skipped or could not be read.
func writeSkipped(b *strings.Builder, found descriptor.Set) {
	var reasons []string
	for _, err := range found.Errors {
		reasons = append(reasons, err.Error())
	}
	for _, s := range found.Skipped {
		reasons = append(reasons, s.String())
	}
	if len(reasons) > 0 {
		fmt.Fprintf(b, "\nSkipped files\n")
	}
	for _, reason := range firstOf(reasons, 5, "; the log lists them") {
		fmt.Fprintf(b, "  %s\n", printable(reason))
	}
}

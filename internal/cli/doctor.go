package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/doctor"
	"herbarium/internal/herb"
)

func newDoctor(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and its environment",
		Long: `Check the settings, the data folder, the database, the live versions, the object store, the addresses, the clock and the
limits of the system, with the settings of the server: pass the same flags, environment variables and configuration file.

Each line is a finding: ok, warn (works, but should be changed) or fail (does not work), followed by what to do. The exit
code is 1 if anything failed, and 4 if only sources did, which could not be published. A server that runs at --addr is asked
for its state. The command is safe while a server is running: it changes nothing and deletes the probes that it writes. It
verifies live versions as a server does: all of a file up to 64 MiB, and the header, the footer and the table of contents of
larger ones; 'herbarium segment verify' verifies all.`,
		Example: `  herbarium doctor
  herbarium doctor --data /var/lib/herbarium --addr :80
  herbarium doctor --json | jq 'select(.status != "ok")'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := r.config(cmd)
			if err != nil {
				return err
			}
			return r.doctor(cmd.Context(), c)
		},
	}
	addServerSettings(cmd.Flags())
	return r.jsonFlag(cmd, ", one finding per line")
}

func (r *runner) doctor(ctx context.Context, c app.Config) error {
	counts, sources := map[doctor.Status]int{}, 0
	color := map[doctor.Status]string{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red}
	doctor.Run(ctx, c, Version(), func(f doctor.Result) {
		counts[f.Status]++
		if f.Status == doctor.Fail && f.Check == doctor.Sources {
			sources++
		}
		line := f.Detail
		if f.Remedy != "" {
			line += "; to do: " + f.Remedy
		}
		status := r.paint(color[f.Status], fmt.Sprintf("%-4s", f.Status))
		_ = r.print(f, "%s %-16s %s", status, f.Check, printable(line))
	})
	switch failed := counts[doctor.Fail]; {
	case ctx.Err() != nil:
		return ctx.Err()
	case failed > sources:
		return fmt.Errorf("%s failed", herb.Plural(failed, "check", "checks"))
	}
	return errFailedSources(sources)
}

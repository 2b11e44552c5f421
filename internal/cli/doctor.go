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
code is 1 if anything failed. The command is safe while a server is running: it changes nothing and deletes the probes that
it writes. It verifies the header and the footer of every live version, not its content; use 'herbarium segment verify' for
that.`,
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
	counts := map[doctor.Status]int{}
	color := map[doctor.Status]string{doctor.OK: green, doctor.Warn: yellow, doctor.Fail: red}
	doctor.Run(ctx, c, Version(), func(f doctor.Result) {
		counts[f.Status]++
		line := f.Detail
		if f.Remedy != "" {
			line += "; to do: " + f.Remedy
		}
		status := r.paint(color[f.Status], fmt.Sprintf("%-4s", f.Status))
		_ = r.print(f, "%s %-16s %s", status, f.Check, printable(line))
	})
	if n := counts[doctor.Fail]; n > 0 && ctx.Err() == nil {
		return fmt.Errorf("%s failed", herb.Plural(n, "check", "checks"))
	}
	return ctx.Err()
}

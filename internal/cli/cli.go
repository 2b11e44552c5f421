// Package cli implements the command line, one file per command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/telemetry"
	"herbarium/internal/text"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
)

// Terminal holds the streams and the environment of a command.
type Terminal struct {
	In  io.Reader // standard input, published as "-"; nil is empty
	Out io.Writer // results, for scripts
	Err io.Writer // errors, notes and progress
	Env func(string) (string, bool)
}

// Run executes a command line and returns its exit code.
func Run(ctx context.Context, args []string, t Terminal) int {
	root := newRoot(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(t.Err, "herbarium: %s\n", strings.TrimRight(line, "\n"))
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		fmt.Fprintf(t.Err, "See '%s --help'.\n", cmd.CommandPath())
		return exitUsage
	}
	if _, ok := errors.AsType[*refusedError](err); ok {
		return exitRefused
	}
	return exitFailure
}

// refusedError marks an operation that was rejected, such as a breaking change; the exit code is exitRefused.
type refusedError struct{ error }

// Unwrap returns the cause.
func (e *refusedError) Unwrap() error { return e.error }

// usageError marks an invalid command line; the exit code is exitUsage.
type usageError struct{ error }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// runner holds the state that all commands share.
type runner struct {
	Terminal
	configFile string
}

func newRoot(t Terminal) *cobra.Command {
	r := &runner{Terminal: t}
	root := &cobra.Command{
		Use:   "herbarium",
		Short: "Serve dataset files as listing APIs, with a plant store",
		Long: `Herbarium turns a dataset file into a listing API with pagination, sorting, full-text search, filters and exact
totals. It also includes a small plant store. All data is stored in one folder, which --data sets.`,
		Example: `  herbarium serve examples/garden
  herbarium publish prices.csv --as shop/prices
  TOKEN=$(herbarium keys create --name ci --scope plants:write)`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&r.configFile, "config", "",
		"configuration `file` (environment: "+app.ConfigEnv+"; default: "+app.DefaultConfigFile+" if it exists)")
	addSettings(flags, "data", "database", "blobs", "log.level", "log.format")
	root.AddCommand(newServe(r), newPublish(r), newDescribe(r), newExport(r), newExplain(r), newDatasets(r), newSegment(r), newKeys(r),
		newAudit(r), newMigrate(r), newBackup(r), newRestore(r), newConfig(r), newVersion(r))
	return root
}

// addSettings adds the flags of the given settings. Their values are read by config.
func addSettings(flags *pflag.FlagSet, keys ...string) {
	defaults := app.DefaultConfig()
	for _, s := range defaults.Settings() {
		if slices.Contains(keys, s.Key) {
			flags.String(s.Flag(), s.Value(), s.Usage+" (environment: "+s.Env()+")")
		}
	}
}

// config loads the configuration of a command.
func (r *runner) config(cmd *cobra.Command) (app.Config, app.Origins, error) {
	given := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	c, origins, err := app.LoadConfig(app.ConfigSources{File: r.configFile, Env: r.Env, Flags: given})
	if err != nil {
		return c, origins, &usageError{err}
	}
	return c, origins, nil
}

// log returns the logger of a command that is not a server. It logs warnings and errors only, unless the configured level is
// debug.
func (r *runner) log(c app.Config) (*slog.Logger, error) {
	level := max(c.LogLevel, slog.LevelWarn)
	if c.LogLevel < slog.LevelInfo {
		level = c.LogLevel
	}
	return telemetry.NewLog(r.Err, telemetry.LogOptions{Level: level, Format: c.LogFormat})
}

// withData opens the data folder and calls f with it.
func (r *runner) withData(cmd *cobra.Command, f func(ctx context.Context, d *app.Data) error) (err error) {
	c, _, err := r.config(cmd)
	if err != nil {
		return err
	}
	log, err := r.log(c)
	if err != nil {
		return err
	}
	d, err := app.OpenData(cmd.Context(), c, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return f(herb.WithActor(cmd.Context(), commandLineActor()), d)
}

// noCommand rejects arguments of a command that only has subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usagef("unknown command %q%s valid commands: %s", args[0], text.Suggestion(args[0], names), strings.Join(names, ", "))
}

// noArgs is cobra.NoArgs with a usageError.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// exactly is cobra.ExactArgs with a usageError that names the expected arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("expected %s", what)
		}
		return nil
	}
}

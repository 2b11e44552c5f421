// Package cli is the command line: one file a command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/telemetry"
	"herbarium/internal/text"
)

// The exit codes.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
	exitRefused = 3
)

// Terminal is where a command reads and writes.
type Terminal struct {
	In  io.Reader // what is published as "-"; nil: nothing
	Out io.Writer // results: what a script would want to read
	Err io.Writer // everything else
	Env func(string) (string, bool)
}

// Run executes a command line and returns the exit code.
func Run(ctx context.Context, args []string, t Terminal) int {
	root := newRoot(t)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
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

// refusedError says that something was not done because it would do harm.
type refusedError struct{ error }

// Unwrap returns what it was.
func (e *refusedError) Unwrap() error { return e.error }

// usageError says that the words of a command line are wrong.
type usageError struct{ error }

// Unwrap returns what is wrong.
func (e *usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// runner is what the commands share.
type runner struct {
	Terminal
	configFile string
}

func newRoot(t Terminal) *cobra.Command {
	r := &runner{Terminal: t}
	root := &cobra.Command{
		Use:   "herbarium",
		Short: "Turn datasets into listing APIs, with a plant store beside them",
		Long: `Herbarium turns a dataset into a listing API with pagination, sorting, full-text search, filters and exact
totals, and keeps a plant store beside it. Everything it keeps is in one folder.`,
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
	root.AddCommand(newServe(r), newPublish(r), newDescribe(r), newExport(r), newDatasets(r), newSegment(r), newKeys(r),
		newAudit(r), newMigrate(r), newDump(r), newLoad(r), newConfig(r), newVersion(r))
	return root
}

// addSettings adds the flags of some settings. Their values are read by config.
func addSettings(flags *pflag.FlagSet, keys ...string) {
	defaults := app.DefaultConfig()
	for _, s := range app.Settings() {
		for _, key := range keys {
			if s.Key == key {
				flags.String(s.Flag(), defaults.Get(s), s.Usage+" (environment: "+s.Env+")")
			}
		}
	}
}

// config returns the configuration that holds for a command.
func (r *runner) config(cmd *cobra.Command) (app.Config, app.Origins, error) {
	given := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	c, origins, err := app.LoadConfig(app.ConfigSources{File: r.configFile, Env: r.Env, Flags: given})
	if err != nil {
		return c, origins, &usageError{err}
	}
	return c, origins, nil
}

// log returns the log of a command that is not a server: it speaks up only when something is wrong.
func (r *runner) log(c app.Config) (*slog.Logger, error) {
	level := max(c.LogLevel, slog.LevelWarn)
	if c.LogLevel < slog.LevelInfo {
		level = c.LogLevel
	}
	return telemetry.NewLog(r.Err, telemetry.LogOptions{Level: level, Format: c.LogFormat})
}

// withData runs f with the data folder opened.
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

// noCommand refuses the arguments of a command that only has commands below it.
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
	guess := ""
	if name, ok := text.Closest(args[0], names); ok {
		guess = fmt.Sprintf(" did you mean %q?", name)
	}
	return usagef("unknown command %q;%s commands: %s", args[0], guess, strings.Join(names, ", "))
}

// noArgs is cobra.NoArgs with words of our own.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%q is not expected here", args[0])
	}
	return nil
}

// exactly is cobra.ExactArgs with words of our own.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("give %s", what)
		}
		return nil
	}
}

// Package cli implements the command line.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/store"
	"herbarium/internal/telemetry"
	"herbarium/internal/text"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2 // invalid command line
	exitRefused = 3 // rejected, such as a breaking change
	exitSources = 4 // sources of a server are not published
)

// Terminal holds the streams and the environment of a command.
type Terminal struct {
	In  io.Reader // standard input, published as "-"; nil is empty
	Out io.Writer // results, for scripts
	Err io.Writer // errors, notes and progress
	Env func(string) (string, bool)
	// Environ returns all variables, as os.Environ does. nil disables the check for unknown ones.
	Environ func() []string
}

// Run executes a command line and returns its exit code.
func Run(ctx context.Context, args []string, t Terminal) int {
	if t.In == nil {
		t.In = strings.NewReader("")
	}
	out := &resultWriter{Writer: t.Out}
	t.Out = out
	r := &runner{Terminal: t}
	root := newRoot(r)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if r.removeInput != nil {
		err = errors.Join(err, r.removeInput())
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	for line := range strings.Lines(messageOf(err)) {
		fmt.Fprintf(t.Err, "herbarium: %s\n", escapeText(strings.TrimRight(line, "\n")))
	}
	code := exitFailure
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
	} else if herb.CodeOf(err) == herb.CodeRejected {
		code = exitRefused
	}
	if code == exitUsage {
		fmt.Fprintf(t.Err, "See '%s --help'.\n", cmd.CommandPath())
	} else if r.place != "" {
		fmt.Fprintln(t.Err, r.place)
	}
	return code
}

// messageOf returns the message of an error, with the flags by which the user may insist.
func messageOf(err error) string {
	return err.Error() + herb.Advice(herb.ConsentsOf(err), herb.Consent.Flag)
}

// NewRoot returns the root of the commands, for documentation generated from them.
func NewRoot() *cobra.Command {
	return newRoot(&runner{Terminal: Terminal{Out: io.Discard, Err: io.Discard,
		Env: func(string) (string, bool) { return "", false }}})
}

// exitError is an error with an exit code.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// usage marks the error of an invalid command line; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{err, exitUsage}
}

func usagef(format string, args ...any) error {
	return usage(fmt.Errorf(format, args...))
}

// runner holds the state that all commands share.
type runner struct {
	Terminal
	configFile string
	asJSON     bool   // --json is set
	place      string // the data in use, printed after an error
	// removeInput removes the copy of standard input when the command has ended; nil if there is
	// none.
	removeInput func() error
}

// Groups of commands in the help.
const (
	groupServe   = "serve"
	groupInspect = "inspect"
	groupAdmin   = "admin"
)

func newRoot(r *runner) *cobra.Command {
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
		Version:       Version(),
	}
	setParent(root)
	root.SetOut(r.Out)
	root.SetErr(r.Err)
	root.SetVersionTemplate(versionLine() + "\n")
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(writeUsage)
	root.AddGroup(&cobra.Group{ID: groupServe, Title: "Serve and publish:"},
		&cobra.Group{ID: groupInspect, Title: "Read data:"},
		&cobra.Group{ID: groupAdmin, Title: "Administer:"})
	root.Flags().BoolP("version", "v", false, "print the version of the program")
	flags := root.PersistentFlags()
	flags.StringVar(&r.configFile, "config", "",
		"configuration `file` (environment: "+app.ConfigEnv+"; default: "+app.DefaultConfigFile+" if it exists)")
	setGroup(flags, groupGlobal, "config")
	addSettings(flags, groupGlobal, "data", "database", "blobs", "log.level", "log.format")
	addGrouped := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
		}
		root.AddCommand(commands...)
	}
	addGrouped(groupServe, newServe(r), newPublish(r), newDescribe(r), newDatasets(r), newKeys(r))
	addGrouped(groupInspect, newExport(r), newAggregate(r), newExplain(r), newSegment(r))
	addGrouped(groupAdmin, newDoctor(r), newUpgrade(r), newAudit(r), newWebhooks(r), newMigrate(r), newBackup(r),
		newRestore(r), newConfig(r), newCompletion(r), newVersion(r))
	root.CompletionOptions.DisableDefaultCmd = true
	r.addCompletions(root)
	return root
}

// addSettings adds the flags of the given settings to a group of the help. Their values are read by
// config.
func addSettings(flags *pflag.FlagSet, group string, keys ...string) {
	defaults := app.DefaultConfig()
	for _, s := range defaults.Settings() {
		if slices.Contains(keys, s.Key) {
			usage := s.Usage + " (environment: " + s.Env() + ")"
			if s.IsSwitch() {
				flags.Bool(s.Flag(), s.Value() == "true", usage)
			} else {
				flags.String(s.Flag(), s.Value(), usage)
			}
			setGroup(flags, group, s.Flag())
		}
	}
}

func (r *runner) config(cmd *cobra.Command) (app.Config, error) {
	given := map[string]string{}
	cmd.Flags().Visit(func(f *pflag.Flag) { given[f.Name] = f.Value.String() })
	c, err := app.LoadConfig(r.configFile, r.Env, given)
	if r.Environ != nil {
		err = errors.Join(err, app.CheckEnv(r.Environ()))
	}
	return c, usage(err)
}

// placedConfig loads the configuration of a command that uses the data, and names the data in its
// errors.
func (r *runner) placedConfig(cmd *cobra.Command) (app.Config, error) {
	c, err := r.config(cmd)
	r.place = fmt.Sprintf("Data folder: %s (%s)", absolute(c.Data), c.Origins["data"])
	if c.Database != "" {
		r.place = fmt.Sprintf("Database: %s (%s)", c.Database, c.Origins["database"])
	}
	return c, err
}

// log returns the logger of a command that is not a server. It logs warnings and errors only,
// unless the configured level is debug.
func (r *runner) log(c app.Config) *slog.Logger {
	level := max(c.LogLevel, slog.LevelWarn)
	if c.LogLevel < slog.LevelInfo {
		level = c.LogLevel
	}
	return telemetry.NewLog(r.Err, level, c.LogFormat)
}

// withData opens existing data, without changing its schema, and calls f with it.
func (r *runner) withData(cmd *cobra.Command, f func(ctx context.Context, d *app.Data) error) error {
	return r.openData(cmd, false, true, f)
}

// createData opens the data, which it creates or upgrades if necessary, and calls f with it.
func (r *runner) createData(cmd *cobra.Command, f func(ctx context.Context, d *app.Data) error) error {
	return r.openData(cmd, true, false, f)
}

// checkData opens the data and calls f with it, for a command that must not create or upgrade
// anything. If there is no data folder, a temporary one replaces it.
func (r *runner) checkData(cmd *cobra.Command, f func(ctx context.Context, d *app.Data) error) (err error) {
	c, err := r.placedConfig(cmd)
	if err != nil {
		return err
	}
	exists, err := c.HasData()
	if err != nil {
		return err
	}
	if exists {
		return r.openData(cmd, false, true, f)
	}
	c.Data, err = os.MkdirTemp("", "herbarium-check-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(c.Data)) }()
	return r.useData(cmd, c, c.Database != "", f)
}

// openData opens the data and calls f with it. With create, it creates the data folder if
// necessary; with keepSchema, it does not upgrade the schema of an existing database.
func (r *runner) openData(cmd *cobra.Command, create, keepSchema bool,
	f func(ctx context.Context, d *app.Data) error) (err error) {
	c, err := r.placedConfig(cmd)
	if err != nil {
		return err
	}
	exists, err := c.HasData()
	if err != nil {
		return err
	}
	// A node or a command on another machine may be the first to use a shared database; its data
	// folder is only a cache.
	if !exists && !create && c.Database == "" {
		return missingData(c)
	}
	return r.useData(cmd, c, keepSchema && (exists || c.Database != ""), func(ctx context.Context, d *app.Data) error {
		if !exists && create {
			fmt.Fprintf(r.Err, "Created data folder %s\n", absolute(c.Data))
		}
		return f(ctx, d)
	})
}

// useData opens the data of a configuration and calls f with it.
func (r *runner) useData(cmd *cobra.Command, c app.Config, keepSchema bool,
	f func(ctx context.Context, d *app.Data) error) (err error) {
	d, err := app.OpenData(cmd.Context(), c, app.OpenOptions{Log: r.log(c), KeepSchema: keepSchema,
		Upgraded: r.printUpgrade, Program: Version()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return f(herb.WithActor(cmd.Context(), commandLineActor()), d)
}

// printUpgrade reports that a command has upgraded the schema of a database.
func (r *runner) printUpgrade(from, to int) {
	fmt.Fprintf(r.Err, "Upgraded the database from schema version %d to %d\n", from, to)
}

// missingData returns the error for a data folder that does not exist or is a different folder.
func missingData(c app.Config) error {
	if _, err := os.Stat(c.Data); errors.Is(err, fs.ErrNotExist) {
		return herb.Errorf(herb.CodeNotFound, "no such data folder %q; %s", c.Data, app.NoDataRemedy)
	}
	return herb.Errorf(herb.CodeNotFound, "%q is not a data folder: it has no %s; %s", c.Data, store.DatabaseFile,
		app.NoDataRemedy)
}

// absolute returns the absolute path, or path itself if the working directory is unknown.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// setParent makes a command that only has subcommands show its help.
func setParent(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args, cmd.RunE = noCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
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
	return usagef("unknown command %q%s valid commands: %s", args[0], text.Suggestion(args[0], names),
		strings.Join(names, ", "))
}

// noArgs is cobra.NoArgs with a usage error.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// expectArgs is cobra.RangeArgs with a usage error that names the expected arguments.
func expectArgs(minArgs, maxArgs int, expected string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < minArgs || len(args) > maxArgs {
			return usagef("expected %s", expected)
		}
		return nil
	}
}

// flagError adds a suggestion to the error of an unknown flag.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return usage(err)
	}
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		return usagef("unknown flag -%s in -%s", unknown.GetSpecifiedName(), short)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if c, ok := text.Closest(unknown.GetSpecifiedName(), names); ok {
		return usagef("unknown flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), c)
	}
	return usagef("unknown flag --%s", unknown.GetSpecifiedName())
}

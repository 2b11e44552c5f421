package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// groupAnnotation is the annotation of a flag that names its group in the help.
const groupAnnotation = "herbarium_group"

// Groups of flags in the help.
const (
	groupOwn     = "Flags"
	groupReading = "Reading files"
	groupRemote  = "Publishing to a server"
	groupAddress = "Addresses"
	groupAccess  = "Access"
	groupLimits  = "Limits"
	groupFiles   = "Published files"
	groupStop    = "Stopping"
	groupGlobal  = "Global flags"
)

// addServerSettings adds the flags of the settings that only a server has.
func addServerSettings(flags *pflag.FlagSet) {
	addSettings(flags, groupAddress, "addr", "admin_addr", "public_url", "trusted_proxies",
		"fetch_hosts")
	addSettings(flags, groupAccess, "access", "catalog", "plants", "mcp")
	addSettings(flags, groupLimits, "max_in_flight", "max_expensive", "max_exports", "max_writes", "max_upload",
		"request_timeout", "memory")
	addSettings(flags, groupFiles, "keep", "keep_for", "cache_size", "retention")
	addSettings(flags, groupStop, "drain", "shutdown")
}

// setGroup assigns flags to a group of the help.
func setGroup(flags *pflag.FlagSet, group string, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, groupAnnotation, []string{group}) // the flag exists
	}
}

// FlagGroup is a group of flags of a command.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups returns the visible flags of a command by group.
func FlagGroups(cmd *cobra.Command) (groups []FlagGroup) {
	_ = cmd.InheritedFlags() // adds them to those of the command
	for _, title := range []string{groupOwn, groupReading, groupRemote, groupAddress, groupAccess, groupLimits,
		groupFiles, groupStop, groupGlobal} {
		g := FlagGroup{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if cmp.Or(strings.Join(f.Annotations[groupAnnotation], ""), groupOwn) == title && !f.Hidden {
				g.Flags.AddFlag(f)
			}
		})
		if g.Flags.HasFlags() {
			groups = append(groups, g)
		}
	}
	return groups
}

// writeUsage writes the usage of a command: its syntax, examples, subcommands and flags.
func writeUsage(cmd *cobra.Command) error {
	cmd.InitDefaultHelpFlag()
	w := cmd.OutOrStderr()
	fmt.Fprint(w, "Usage:\n")
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	for _, g := range cmd.Groups() {
		writeCommands(w, cmd, g.Title, g.ID)
	}
	title := "Commands:"
	if len(cmd.Groups()) > 0 {
		title = "Other commands:"
	}
	writeCommands(w, cmd, title, "")
	for _, g := range FlagGroups(cmd) {
		fmt.Fprintf(w, "\n%s:\n%s\n", g.Title,
			strings.TrimRight(g.Flags.FlagUsagesWrapped(min(terminalWidth(w), 120)), "\n"))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nUse '%s COMMAND --help' for more about a command.\n", cmd.CommandPath())
	}
	return nil
}

func writeCommands(w io.Writer, cmd *cobra.Command, title, group string) {
	for _, c := range cmd.Commands() {
		if c.GroupID != group || !c.IsAvailableCommand() {
			continue
		}
		if title != "" {
			fmt.Fprintf(w, "\n%s\n", title)
			title = ""
		}
		fmt.Fprintf(w, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
	}
}

func terminalWidth(w io.Writer) int {
	const usual = 80
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return usual
}

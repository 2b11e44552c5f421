// Package reference renders the commands of the program as Markdown and as man pages. The program itself does not use it.
package reference

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herbarium/internal/cli"
)

// commands returns a command and all visible commands below it, in the order of their paths.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			all = append(all, commands(c)...)
		}
	}
	return all
}

// option is a flag as it is documented.
type option struct {
	syntax   string // such as "-o, --output file"
	usage    string
	fallback string // default value; empty if there is none
}

// optionGroup is a group of flags as it is documented.
type optionGroup struct {
	title   string
	options []option
}

// optionGroups returns the flags of a command without --help. Flags of all commands belong to the root.
func optionGroups(cmd *cobra.Command) (groups []optionGroup) {
	for _, g := range cli.FlagGroups(cmd) {
		group := optionGroup{title: g.Title}
		g.Flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || cmd.HasParent() && cmd.InheritedFlags().Lookup(f.Name) != nil {
				return
			}
			group.options = append(group.options, newOption(f))
		})
		if len(group.options) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

func newOption(f *pflag.Flag) option {
	value, usage := pflag.UnquoteUsage(f)
	o := option{syntax: strings.TrimSpace("--" + f.Name + " " + value), usage: usage, fallback: f.DefValue}
	if f.Shorthand != "" {
		o.syntax = "-" + f.Shorthand + ", " + o.syntax
	}
	if f.DefValue == "false" || f.DefValue == "[]" || f.DefValue == "0" && value == "lines" {
		o.fallback = ""
	}
	return o
}

// example returns the examples of a command without indentation.
func example(cmd *cobra.Command) string {
	var lines []string
	for line := range strings.Lines(cmd.Example) {
		lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
	}
	return strings.Join(lines, "\n")
}

// description returns the long description of a command, or else the short one.
func description(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return strings.TrimSpace(cmd.Long)
}

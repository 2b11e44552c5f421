// Package reference renders the commands of the program as Markdown and as man pages. The program
// itself does not use it.
package reference

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"herbarium/internal/cli"
)

// intro is the text before the commands.
//
//go:embed intro.md
var intro string

// Markdown returns docs/cli.md.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, cmd := range commands(root) {
		text := convert(description(cmd), "```text\n", "```\n", "\n", func(line string, code bool) string {
			if code {
				return line
			}
			return escapeMarkdown(line)
		})
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", cmd.CommandPath(), strings.TrimRight(text, "\n"))
		if cmd.HasParent() && cmd.Runnable() {
			fmt.Fprintf(&b, "\n```text\n%s\n```\n", cmd.UseLine())
		}
		if cmd.HasExample() {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", example(cmd))
		}
		visitFlags(cmd, func(group string) {
			fmt.Fprintf(&b, "\n| %s | default | |\n|---|---|---|\n", strings.ToLower(group))
		}, func(syntax, usage, fallback string) {
			if fallback != "" {
				fallback = "`" + fallback + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", syntax, fallback,
				strings.ReplaceAll(escapeMarkdown(usage), "|", "\\|"))
		})
	}
	return b.String()
}

// escapeMarkdown escapes what Markdown would interpret.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_").Replace(s)
}

// Man returns the man pages of section 1 by file name. version is that of the program.
func Man(root *cobra.Command, version string) map[string]string {
	pages := map[string]string{}
	for _, cmd := range commands(root) {
		pages[pageName(cmd)+".1"] = manPage(cmd, version)
	}
	return pages
}

// pageName returns the name of the man page of a command, such as herbarium-keys-create.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"Herbarium\"\n", strings.ToUpper(pageName(cmd)), "herbarium "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(strings.ToLower(cmd.Short[:1])+cmd.Short[1:]))
	b.WriteString(".SH SYNOPSIS\n")
	if cmd.HasParent() && cmd.Runnable() {
		fmt.Fprintf(&b, ".B %s\n.br\n", roff(cmd.UseLine()))
	}
	children := visible(cmd)
	if len(children) > 0 {
		fmt.Fprintf(&b, ".B %s\n.I COMMAND\n[flags]\n", roff(cmd.CommandPath()))
	}
	text := convert(description(cmd), ".nf\n", ".fi\n", ".PP\n", func(line string, _ bool) string { return roff(line) })
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", text)
	if len(children) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, c := range children {
		fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(c)), roff(c.Short))
	}
	visitFlags(cmd, func(group string) {
		fmt.Fprintf(&b, ".SH %q\n", strings.ToUpper(group))
	}, func(syntax, usage, fallback string) {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(syntax), roff(usage))
		if fallback != "" {
			fmt.Fprintf(&b, "Default: %s\n", roff(fallback))
		}
	})
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(example(cmd)))
	}
	if parent := cmd.Parent(); parent != nil {
		fmt.Fprintf(&b, ".SH \"SEE ALSO\"\n.BR %s (1)", roff(pageName(parent)))
		for _, c := range visible(parent) {
			if c != cmd && parent.HasParent() {
				fmt.Fprintf(&b, ",\n.BR %s (1)", roff(pageName(c)))
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
	return strings.TrimPrefix(strings.NewReplacer("\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n"+s), "\n")
}

// convert converts the lines of a text, with the indented ones, which are tables or lists, between
// begin and end.
func convert(s, begin, end, blank string, convertLine func(line string, code bool) string) string {
	var b strings.Builder
	lines := append(strings.Split(s, "\n"), "")
	code := false
	for i, line := range lines[:len(lines)-1] {
		next := line // a blank line is one of a table if an indented one follows
		if line == "" {
			next = lines[i+1]
		}
		if indented := strings.HasPrefix(next, "  "); indented != code && (line != "" || code) {
			b.WriteString(map[bool]string{true: begin, false: end}[indented])
			code = indented
		}
		if line == "" {
			b.WriteString(blank)
		} else {
			b.WriteString(convertLine(line, code) + "\n")
		}
	}
	if code {
		b.WriteString(end)
	}
	return b.String()
}

// commands returns a command and all visible commands below it, in the order of their paths.
func commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	for _, c := range visible(root) {
		all = append(all, commands(c)...)
	}
	return all
}

func visible(cmd *cobra.Command) (all []*cobra.Command) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			all = append(all, c)
		}
	}
	return all
}

// visitFlags calls group for each group of flags of a command, and flag for each flag in it: with
// its syntax, such as "-o, --output file", its usage, and its default value if it has one. Flags of
// all commands belong to the root.
func visitFlags(cmd *cobra.Command, group func(title string), flag func(syntax, usage, fallback string)) {
	for _, g := range cli.FlagGroups(cmd) {
		begin := func() { group(g.Title) }
		g.Flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || cmd.HasParent() && cmd.InheritedFlags().Lookup(f.Name) != nil {
				return
			}
			begin()
			begin = func() {}
			value, usage := pflag.UnquoteUsage(f)
			syntax, fallback := strings.TrimSpace("--"+f.Name+" "+value), f.DefValue
			if f.Shorthand != "" {
				syntax = "-" + f.Shorthand + ", " + syntax
			}
			if f.DefValue == "false" || f.DefValue == "[]" || f.DefValue == "0" && value == "lines" {
				fallback = ""
			}
			flag(syntax, usage, fallback)
		})
	}
}

// example returns the examples of a command without indentation.
func example(cmd *cobra.Command) string {
	return strings.TrimSpace(strings.ReplaceAll("\n"+cmd.Example, "\n  ", "\n"))
}

// description returns the long description of a command, or else the short one.
func description(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return strings.TrimSpace(cmd.Long)
}

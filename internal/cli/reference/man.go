package reference

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Man returns the man pages of section 1 by file name. version is that of the program.
func Man(root *cobra.Command, version string) map[string]string {
	pages := map[string]string{}
	for _, c := range commands(root) {
		pages[pageName(c)+".1"] = manPage(c, version)
	}
	return pages
}

// pageName returns the name of the man page of a command, such as herbarium-keys-create.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func manPage(cmd *cobra.Command, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %q 1 \"\" %q \"Herbarium\"\n", strings.ToUpper(pageName(cmd)), "herbarium "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(cmd)), roff(lowerFirst(cmd.Short)))
	b.WriteString(".SH SYNOPSIS\n")
	if cmd.HasParent() && cmd.Runnable() {
		fmt.Fprintf(&b, ".B %s\n.br\n", roff(cmd.UseLine()))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, ".B %s\n.I COMMAND\n[flags]\n", roff(cmd.CommandPath()))
	}
	b.WriteString(".SH DESCRIPTION\n")
	writeParagraphs(&b, description(cmd))
	writeSubcommands(&b, cmd)
	for _, g := range optionGroups(cmd) {
		fmt.Fprintf(&b, ".SH %q\n", strings.ToUpper(g.title))
		for _, o := range g.options {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(o.syntax), roff(o.usage))
			if o.fallback != "" {
				fmt.Fprintf(&b, "Default: %s\n", roff(o.fallback))
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(example(cmd)))
	}
	writeSeeAlso(&b, cmd)
	return b.String()
}

func writeSubcommands(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(c)), roff(c.Short))
		}
	}
}

func writeSeeAlso(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasParent() {
		return
	}
	fmt.Fprintf(b, ".SH \"SEE ALSO\"\n.BR %s (1)", roff(pageName(cmd.Parent())))
	for _, c := range cmd.Parent().Commands() {
		if c != cmd && cmd.Parent().HasParent() && c.IsAvailableCommand() {
			fmt.Fprintf(b, ",\n.BR %s (1)", roff(pageName(c)))
		}
	}
	b.WriteString("\n")
}

// writeParagraphs writes a text. Indented lines, which are tables or lists, are kept as they are.
func writeParagraphs(b *strings.Builder, s string) {
	kept := false
	for line := range strings.SplitSeq(s, "\n") {
		indented := strings.HasPrefix(line, "  ")
		if line != "" && indented != kept {
			kept = indented
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[kept])
		}
		if line == "" {
			b.WriteString(".PP\n")
		} else {
			b.WriteString(roff(line) + "\n")
		}
	}
	if kept {
		b.WriteString(".fi\n")
	}
}

// roff escapes a text for roff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

package reference

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// intro is the text before the commands.
//
//go:embed intro.md
var intro string

// Markdown returns docs/cli.md.
func Markdown(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(intro)
	for _, c := range commands(root) {
		writeMarkdown(&b, c)
	}
	return b.String()
}

func writeMarkdown(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", cmd.CommandPath(), blocks(description(cmd)))
	if cmd.HasParent() && cmd.Runnable() {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", example(cmd))
	}
	for _, g := range optionGroups(cmd) {
		fmt.Fprintf(b, "\n| %s | default | |\n|---|---|---|\n", strings.ToLower(g.title))
		for _, o := range g.options {
			fallback := ""
			if o.fallback != "" {
				fallback = "`" + o.fallback + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", o.syntax, fallback, cell(o.usage))
		}
	}
}

// blocks converts indented lines of a text, which are tables or lists, to code blocks, and escapes the rest.
func blocks(s string) string {
	var b strings.Builder
	code := false
	fence := func(want bool) {
		if code != want {
			code = want
			b.WriteString("```" + map[bool]string{true: "text"}[want] + "\n")
		}
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		blank := line == ""
		if !blank {
			fence(strings.HasPrefix(line, "  "))
		} else if code && !strings.HasPrefix(lines[min(i+1, len(lines)-1)], "  ") {
			fence(false)
		}
		if code {
			b.WriteString(line + "\n")
		} else {
			b.WriteString(escape(line) + "\n")
		}
	}
	fence(false)
	return strings.TrimRight(b.String(), "\n")
}

// escape escapes what Markdown would interpret.
func escape(s string) string {
	return strings.NewReplacer("<", "\\<", "*", "\\*", "_", "\\_").Replace(s)
}

// cell escapes the text of a table cell.
func cell(s string) string { return strings.ReplaceAll(escape(s), "|", "\\|") }

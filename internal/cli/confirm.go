package cli

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/telemetry"
)

// yesFlag adds the flag --yes of a command that asks for confirmation.
func yesFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVarP(to, "yes", "y", false, "do not ask for confirmation; required if standard input is not a terminal")
}

// confirm asks a question if the user is at a terminal, and fails if the answer is not yes.
func (r *runner) confirm(question string) error {
	in, ok := r.In.(io.Writer) // a terminal is a file, which can be written
	if !ok || !telemetry.IsTerminal(in) || !telemetry.IsTerminal(r.Err) {
		return usagef("confirmation required, and standard input is not a terminal; add --yes")
	}
	return ask(r.In, r.Err, question)
}

// ask writes a question and reads the answer.
func ask(in io.Reader, out io.Writer, question string) error {
	fmt.Fprintf(out, "%s [y/N] ", question)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		fmt.Fprintln(out)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("canceled; nothing has changed")
}

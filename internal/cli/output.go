package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/spf13/cobra"
)

// jsonFlag adds the flag --json. more completes its description.
func jsonFlag(cmd *cobra.Command, to *bool, more string) {
	cmd.Flags().BoolVar(to, "json", false, "print JSON"+more)
}

// writeJSON writes values as JSON, one per line.
func writeJSON[T any](w io.Writer, values ...T) error {
	enc := json.NewEncoder(w)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a table with one line per item. The columns of the header and of row are separated by tabs.
func writeTable[T any](w io.Writer, header string, items []T, row func(T) []any) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, header)
	for _, item := range items {
		cells := row(item)
		fmt.Fprintf(t, strings.Repeat("%v\t", len(cells)-1)+"%v\n", cells...)
	}
	return t.Flush()
}

// printable quotes s if it contains characters that could corrupt a terminal or a table.
func printable(s string) string {
	if strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return strconv.Quote(s)
	}
	return s
}

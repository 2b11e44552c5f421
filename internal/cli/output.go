package cli

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"herbarium/internal/filesystem"
	"herbarium/internal/telemetry"
)

// resultWriter writes to standard output and records the first error: Run fails if results are
// lost, so commands may ignore it.
type resultWriter struct {
	io.Writer
	err error
}

func (w *resultWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// Fd returns the descriptor of a file, or an invalid one, so that a terminal is recognized.
func (w *resultWriter) Fd() uintptr {
	if f, ok := w.Writer.(*os.File); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// jsonFlag adds the flag --json. more completes its description.
func (r *runner) jsonFlag(cmd *cobra.Command, more string) *cobra.Command {
	cmd.Flags().BoolVar(&r.asJSON, "json", false, "print JSON"+more)
	return cmd
}

func writeJSON(w io.Writer, v any) error { return json.NewEncoder(w).Encode(v) }

// print writes a result: a value as JSON with --json, else a line of text.
func (r *runner) print(v any, format string, args ...any) error {
	if r.asJSON {
		return writeJSON(r.Out, v)
	}
	_, err := fmt.Fprintf(r.Out, format+"\n", args...)
	return err
}

// printList writes items: a line of JSON each with --json, else a table.
func printList[T, V any](r *runner, items []T, value func(T) V, header string, row func(T) []any) error {
	if !r.asJSON {
		return writeTable(r.Out, header, items, row)
	}
	for _, item := range items {
		_ = writeJSON(r.Out, value(item))
	}
	return nil
}

// writeTable writes a table with one line per item. The columns of the header and of row are
// separated by tabs.
func writeTable[T any](w io.Writer, header string, items []T, row func(T) []any) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, header)
	for _, item := range items {
		cells := row(item)
		for i, c := range cells {
			cells[i] = escape(fmt.Sprint(c), "")
		}
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

// escape replaces the characters of a text that could send commands to a terminal or change the
// direction of what follows, as they are written in a string of Go. It leaves those in kept as they
// are.
func escape(s, kept string) string {
	isPlain := func(c rune) bool { return unicode.IsGraphic(c) || strings.ContainsRune(kept, c) }
	if !strings.ContainsFunc(s, func(c rune) bool { return !isPlain(c) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		if isPlain(c) && (c != utf8.RuneError || size > 1) {
			b.WriteString(s[:size])
		} else {
			quoted := strconv.QuoteToASCII(s[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// escapeText is escape for a text of several lines.
func escapeText(s string) string { return escape(s, "\n\t") }

// confirm asks a question if the user is at a terminal, and fails if the answer is not yes.
func (r *runner) confirm(question string) error {
	in, ok := r.In.(io.Writer) // a terminal is a file, which can be written
	if !ok || !telemetry.IsTerminal(in) || !telemetry.IsTerminal(r.Err) {
		return usagef("confirmation required, and standard input is not a terminal; add --yes")
	}
	return ask(r.In, r.Err, question)
}

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

// writeFile writes a temporary file and renames it to path when it is complete. An existing file is
// replaced, or kept if writing fails. A path that is not a regular file, such as a pipe or a
// terminal, is written directly.
func writeFile(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path) // follows links
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return usagef("%s is a folder; expected a file", path)
	case !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	default:
		path, err = filepath.EvalSymlinks(path)
		if err != nil { // replace the file, not the link to it
			return err
		}
	}
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".part")
	return filesystem.WriteFile(filesystem.OS{}, part, path, 0o666, write)
}

package rows

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Guard runs a call into a library that decodes untrusted bytes. A panic or a memory fault in it becomes an error that
// names what was decoded. It must not surround code of this program, whose panics are bugs.
func Guard(what string, call func() error) (err error) {
	fault := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(fault)
		if r := recover(); r != nil {
			err = Damaged(fmt.Errorf("panic: %v", r), what)
		}
	}()
	return call()
}

// Damaged returns an error with CodeInvalid that locates what is wrong in a file. The message of a herb.Error is kept;
// other causes are only logged.
func Damaged(err error, where string) error {
	if e, ok := errors.AsType[*herb.Error](err); ok {
		return herb.Wrap(e.Code, e.Err, "%s: %s", where, e.Message)
	}
	return herb.Wrap(herb.CodeInvalid, err, "%s is damaged or truncated; copy the file again, or write it again", where)
}

// Clip shortens a value for a message.
func Clip(s string) string { return herb.Clip(s, 60) }

// JoinNames lists names for a message, at most 50 of them.
func JoinNames(names []string) string { return joinSome(names, Clip) }

func joinSome[T any](items []T, show func(T) string) string {
	const limit = 50
	var shown []string
	for _, item := range items[:min(len(items), limit)] {
		shown = append(shown, show(item))
	}
	list := strings.Join(shown, ", ")
	if more := len(items) - limit; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// maxSuggestions is the number of names that a misspelled one is compared with.
const maxSuggestions = 1_000

// FindTable returns the index of a table by its name. The case is ignored if no name is equal. kind is what the format
// calls a table, for the message.
func FindTable(kind, name string, tables []Table) (int, error) {
	names := Names(tables)
	i := slices.Index(names, name)
	if i < 0 {
		i = slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	if i >= 0 {
		return i, nil
	}
	suggestion := text.Suggestion(Clip(name), names[:min(len(names), maxSuggestions)])
	return 0, herb.Invalidf("no such %s %q%s %ss: %s", kind, Clip(name), suggestion, kind, JoinNames(names))
}

// SelectionNotes returns a note about the tables of a file that are not published beside the selected one, if there are any.
// kind is what the format calls the selected table.
func SelectionNotes(kind string, tables []Table, selected int) []string {
	if len(tables) == 1 {
		return nil
	}
	list := joinSome(slices.Concat(tables[:selected], tables[selected+1:]), func(t Table) string {
		if t.Skipped == "" {
			return strconv.Quote(Clip(t.Name))
		}
		return strconv.Quote(Clip(t.Name)) + " (" + t.Skipped + ")"
	})
	return []string{fmt.Sprintf("only the %s %q is published; add # and a name to the file to publish another: %s", kind, tables[selected].Name, list)}
}

// SplitCells appends the cells that are concatenated in buf, by the end of each.
func SplitCells(cells [][]byte, buf []byte, ends []int) [][]byte {
	start := 0
	for _, end := range ends {
		cells = append(cells, buf[start:end:end])
		start = end
	}
	return cells
}

// AppendFloat appends a number in the shortest plain decimal notation that reads back as the same number.
func AppendFloat(b []byte, f float64, bits int) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	default:
		return strconv.AppendFloat(b, f, 'f', -1, bits)
	}
}

// AppendDate appends the day of t. A year before 0 or after 9999 has a sign and at least six digits.
func AppendDate(b []byte, t time.Time) []byte {
	format := "%04d"
	if y := t.Year(); y < 0 || y > 9999 {
		format = "%+07d"
	}
	return fmt.Appendf(b, format+"-%02d-%02d", t.Year(), t.Month(), t.Day())
}

// AppendClock appends hours, minutes and seconds. Hours may exceed 24.
func AppendClock(b []byte, seconds int64) []byte {
	return fmt.Appendf(b, "%02d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}

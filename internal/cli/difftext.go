package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/changes"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// writeDiff prints the lines of changes.ndjson: as they are with --json, else at most limit of them
// as text; all if limit is 0.
func (r *runner) writeDiff(ref herb.Ref, lines iter.Seq2[[]byte, error], limit int) error {
	n, total := 0, 0
	for line, err := range lines {
		switch {
		case err != nil:
			return err
		case r.asJSON:
			_, err = fmt.Fprintf(r.Out, "%s\n", line)
		case n == 0:
			var s changes.Summary
			if err := json.Unmarshal(line, &s); err != nil {
				return herb.Wrap(herb.CodeInternal, err, "unexpected first line of the changes")
			}
			r.writeDiffSummary(ref, s)
			total = s.Total()
		case limit > 0 && n > limit:
			_, err := fmt.Fprintf(r.Out, "%s; --limit 0 prints all\n",
				herb.Plural(total-limit, "more change", "more changes"))
			return err
		default:
			err = r.writeChange(line)
		}
		if err != nil {
			return err
		}
		n++
	}
	return nil
}

// writeDiffSummary prints the counts of changes and the fields that differ.
func (r *runner) writeDiffSummary(ref herb.Ref, s changes.Summary) {
	fmt.Fprintf(r.Out, "%s: %s → %s\n", ref, escapeText(s.From), escapeText(s.To))
	fmt.Fprintf(r.Out, "%s added, %s removed, %s changed, %s unchanged\n",
		herb.Count(s.Added), herb.Count(s.Removed), herb.Count(s.Changed), herb.Count(s.Unchanged))
	for _, f := range []struct {
		what, color string
		names       []string
	}{{"added", green, s.Fields.Added}, {"removed", red, s.Fields.Removed}, {"retyped", yellow, s.Fields.Retyped}} {
		if len(f.names) == 0 {
			continue
		}
		var names []string
		for _, name := range f.names {
			names = append(names, shown(name))
		}
		fmt.Fprintln(r.Out, r.paint(f.color, "fields "+f.what+": "+strings.Join(names, ", ")))
	}
	if s.Key == nil && s.Total() > 0 {
		fmt.Fprintln(r.Out, "no primary key identifies the records in both versions: they are added or removed")
	}
}

// writeChange prints a change as a line of text.
func (r *runner) writeChange(line []byte) error {
	var c struct {
		Op                    query.ChangeOp
		Record, Key, Old, New members
	}
	if err := json.Unmarshal(line, &c); err != nil {
		return herb.Wrap(herb.CodeInternal, err, "unexpected line of the changes")
	}
	text, mark, color := c.Record.String(), "-", red
	switch c.Op {
	case query.OpAdded:
		mark, color = "+", green
	case query.OpChanged:
		mark, color = "~", yellow
		old := map[string]string{}
		for _, m := range c.Old {
			old[m.name] = m.value
		}
		var pairs []string
		for _, m := range c.New {
			was, is := cutCommon(old[m.name], m.value)
			pairs = append(pairs, shown(m.name)+": "+shown(was)+" → "+shown(is))
		}
		text = c.Key.String() + " | " + strings.Join(pairs, ", ")
	}
	_, err := fmt.Fprintln(r.Out, r.paint(color, mark+" "+text))
	return err
}

// members are the members of a JSON object of strings, in their order.
type members []member

type member struct{ name, value string }

// UnmarshalJSON implements json.Unmarshaler.
func (m *members) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if start, err := d.Token(); start != json.Delim('{') {
		return err // null
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value string
		if err := d.Decode(&value); err != nil {
			return err
		}
		*m = append(*m, member{fmt.Sprint(name), value})
	}
	return nil
}

// String returns the members that have a value.
func (m members) String() string {
	var parts []string
	for _, m := range m {
		if m.value != "" {
			parts = append(parts, shown(m.name)+": "+shown(m.value))
		}
	}
	return strings.Join(parts, ", ")
}

// maxShown is how many characters of a value are printed.
const maxShown = 100

// shown returns a value for a line of text: cut if it is long, and quoted if it is empty, ambiguous
// or not printable.
func shown(s string) string {
	const more = "…"
	end := ""
	if len(s) > maxShown { // in bytes: a longer text may still have few characters
		at := 0
		for range maxShown {
			_, size := utf8.DecodeRuneInString(s[at:])
			at += size
		}
		if at < len(s) {
			s, end = s[:at], more
		}
	}
	isSpecial := func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune(`,|→"`, c) }
	if s == "" || strings.TrimSpace(s) != s || strings.Contains(s, ": ") || !utf8.ValidString(s) ||
		strings.ContainsFunc(s, isSpecial) {
		s = strconv.Quote(s)
	}
	return s + end
}

// cutCommon cuts what long values have in common at their start, so that the printed parts differ.
func cutCommon(a, b string) (string, string) {
	const before = 20
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if same < maxShown/2 {
		return a, b
	}
	at := same - before
	for at > 0 && !utf8.RuneStart(a[at]) {
		at--
	}
	return "…" + a[at:], "…" + b[at:]
}

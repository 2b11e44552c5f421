package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// explainReading returns the best readings of a source for --explain. It prints a failure, and so
// does the publish.
func (r *runner) explainReading(ctx context.Context, s source.Source) rows.Explanation {
	e, err := ingest.Explain(ctx, s, ingest.Options{})
	if err != nil {
		writeNotes(r.Err, []string{"no readings: " + messageOf(err)})
	}
	return e
}

// writeExplanation writes the readings of a file and its words in the compared encodings.
func writeExplanation(w io.Writer, e rows.Explanation) {
	writeReadings(w, e.Readings)
	if len(e.Encodings) == 0 {
		return
	}
	fmt.Fprintln(w)
	_ = writeTable(w, "  ENCODING\tWORDS OF THE FILE", e.Encodings, func(s rows.EncodingSample) []any {
		how := "used"
		if !s.Used {
			how = "to select it: --encoding " + strings.ToLower(s.Encoding)
		}
		return []any{"  " + s.Encoding, escapeText(strings.Join(s.Words, ", ")) + "; " + how}
	})
}

// writeReadings writes the readings of a file, with the terms of their scores below each.
func writeReadings(w io.Writer, readings []rows.ScoredReading) {
	if len(readings) == 0 {
		fmt.Fprint(w, "\n  readings: the format declares its columns, so there is nothing to choose\n")
		return
	}
	type line struct{ score, part, text string }
	var lines []line
	for i, r := range readings {
		lines = append(lines, line{formatScore(r.Score), fmt.Sprintf("reading %d", i+1), r.Text + "; " + howToSelect(r)})
		for _, t := range r.Terms {
			lines = append(lines, line{formatScore(t.Value), "  " + string(t.Decision), "  " + t.Name})
		}
	}
	fmt.Fprintln(w)
	_ = writeTable(w, "     SCORE\tPART\tREADINGS, BEST FIRST, AND THE TERMS OF THEIR SCORES", lines, func(l line) []any {
		return []any{"  " + l.score, l.part, l.text}
	})
}

func formatScore(score float64) string { return fmt.Sprintf("%8.2f", score) }

// howToSelect says how a publisher selects a reading: with flags, or with a descriptor.
func howToSelect(r rows.ScoredReading) string {
	switch {
	case r.Used:
		return "used"
	case r.Settings == (herb.Reading{}):
		return "to select it: " + r.Note
	}
	var flags []string
	for _, f := range []struct{ name, value string }{
		{"delimiter", r.Settings.Delimiter}, {"widths", r.Settings.Widths}, {"header", r.Settings.Header}, {"skip", r.Settings.Skip},
	} {
		if f.value != "" {
			flags = append(flags, "--"+f.name+" "+quoteArgument(f.value))
		}
	}
	return "to select it: " + strings.Join(flags, " ")
}

// quoteArgument quotes an argument for a shell unless it is a word or a number.
func quoteArgument(s string) string {
	isPlain := func(c rune) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == ',' }
	if strings.IndexFunc(s, func(c rune) bool { return !isPlain(c) }) < 0 {
		return s
	}
	return "'" + s + "'"
}

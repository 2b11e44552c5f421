package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/rows"
)

// explainReading returns how a source was read for --explain. It prints a failure, and so does the
// publish.
func (r *runner) explainReading(ctx context.Context, s descriptor.Source) rows.Explanation {
	e, err := ingest.Explain(ctx, s, ingest.Options{})
	if err != nil {
		writeNotes(r.Err, []string{"not explained: " + messageOf(err)})
	}
	return e
}

// writeExplanation writes the candidates for each decision about a file and its words in the
// compared encodings.
func writeExplanation(w io.Writer, e rows.Explanation) {
	writeCandidates(w, e.Candidates)
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

// writeCandidates writes candidates, with the evidence below each.
func writeCandidates(w io.Writer, candidates []rows.Candidate) {
	if len(candidates) == 0 {
		fmt.Fprint(w, "\n  the format declares its columns, so nothing was compared\n")
		return
	}
	type line struct{ decision, score, text string }
	var lines []line
	for _, c := range candidates {
		first := line{decision: string(c.Decision), text: c.Text + "; " + howToSelect(c)}
		if len(c.Evidence) > 0 {
			first.score = formatScore(c.Score)
		}
		lines = append(lines, first)
		for _, t := range c.Evidence {
			lines = append(lines, line{"", formatScore(t.Value), "  " + t.Name})
		}
	}
	fmt.Fprintln(w)
	_ = writeTable(w, "  DECISION\t   SCORE\tCANDIDATES AND THEIR EVIDENCE", lines, func(l line) []any {
		return []any{"  " + l.decision, l.score, l.text}
	})
}

func formatScore(score float64) string { return fmt.Sprintf("%8.2f", score) }

// howToSelect says how a publisher selects a candidate: with flags, or with a descriptor.
func howToSelect(r rows.Candidate) string {
	switch {
	case r.Used:
		return "used"
	case r.Settings == (herb.Reading{}):
		return "to select it: " + r.Note
	}
	var flags []string
	for _, name := range herb.ReadingNames() {
		value := *r.Settings.Member(name)
		if value != "" {
			flags = append(flags, "--"+name+" "+quoteArgument(value))
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

package ingest

import (
	"fmt"
	"io"
	"time"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/text"
)

const secondsOfDay = 24 * 60 * 60

func appendFloat(b []byte, f float64, bits int) []byte { return rows.AppendFloat(b, f, bits) }
func appendDate(b []byte, t time.Time) []byte          { return rows.AppendDate(b, t) }
func appendTime(b []byte, seconds int64) []byte        { return rows.AppendClock(b, seconds) }
func appendPadded(b []byte, n, digits int) []byte      { return rows.AppendPadded(b, n, digits) }
func listed(names []string) string                     { return rows.JoinNames(names) }

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func didYouMean(name string, choices []string) string {
	if c, ok := text.Closest(name, choices); ok {
		return fmt.Sprintf("; did you mean %q?", c)
	}
	return ";"
}

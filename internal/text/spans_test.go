package text_test

import (
	"slices"
	"testing"

	"herbarium/internal/text"
)

func TestAppendSpans(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "A Rose, a ROSÉ", "don't 3.14 x_y", "植物園 Straße", "  ©  ", "AB-12/7", "🌱 grows"} {
		var words []string
		at := 0
		for _, span := range text.AppendSpans(nil, s) {
			words = append(words, span.Word)
			if span.Start < at || span.End <= span.Start || text.Fold(s[span.Start:span.End]) != span.Word {
				t.Errorf("%q has the span %v", s, span)
			}
			at = span.End
		}
		if want := text.AppendWords(nil, s); !slices.Equal(words, want) {
			t.Errorf("%q has the words %q, want %q", s, words, want)
		}
	}
}

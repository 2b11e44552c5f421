package charset

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/must"
)

func TestCompareEncodings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, content, used string
		want                []rows.EncodingSample
	}{
		{"ASCII", "a,b\n", "us-ascii", nil},
		{"UTF-16", "\xE9\x00a\x00", "UTF-16LE", nil},
		{"unreadable words", "caf\x81\n", "windows-1252", nil},
		{"Windows-1252", "caf\xE9,1\nx,caf\xE9\nth\xE9", "Windows-1252", []rows.EncodingSample{
			{Encoding: "Windows-1252", Used: true, Words: []string{"café", "thé"}},
			{Encoding: "macintosh", Words: []string{"cafÈ", "thÈ"}},
		}},
		{"Polish", encode(charmap.Windows1250, "Łódź\nPoznań\n"), "Windows-1250", []rows.EncodingSample{
			{Encoding: "Windows-1250", Used: true, Words: []string{"Łódź", "Poznań"}},
			{Encoding: "Windows-1252", Words: []string{"£ódŸ", "Poznañ"}},
		}},
		{"Japanese", encode(japanese.ShiftJIS, "植物\n"), "shift_jis", []rows.EncodingSample{
			{Encoding: "shift_jis", Used: true, Words: []string{"植物"}}, {Encoding: "GB18030", Words: []string{"怉暔"}},
		}},
		{"long words", encode(japanese.ShiftJIS, "x"+strings.Repeat("木", 100)), "shift_jis", []rows.EncodingSample{
			{Encoding: "shift_jis", Used: true, Words: []string{"x" + strings.Repeat("木", 19)}},
			{Encoding: "GB18030", Words: []string{"x" + strings.Repeat("栘", 19)}},
		}},
	} {
		got, err := CompareEncodings(t.Context(), memory{Content: tt.content}, tt.used, 2)
		must.NoError(t, err)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

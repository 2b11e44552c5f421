package charset

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// TestGuessEncoding_accidentalUTF8 reads texts some of whose bytes are UTF-8 by accident.
func TestGuessEncoding_accidentalUTF8(t *testing.T) {
	t.Parallel()
	var ages strings.Builder
	for i := range 15 {
		fmt.Fprintf(&ages, "2024,%d0代,%d\n", i+1, i)
	}
	for _, tt := range []struct {
		name     string
		encoding encoding.Encoding
		text     string
		accident string // the first accidental character
	}{
		{"Shift_JIS", japanese.ShiftJIS, "year,age,count\n2024,10歳未満,3\n" + ages.String(), "\u0396"},
		{"Shift_JIS", japanese.ShiftJIS, "品名,数\n" + strings.Repeat("ﾃﾚﾋﾞ,3\nﾊﾟｿｺﾝ,4\nｶﾞﾗｽ,5\nｼﾞﾃﾝｼｬ,6\nﾃｽﾄ,7\n",
			2), "\u00FD"},
		{"Windows-1251", charmap.Windows1251,
			"місто;столиця\nКиїв;Так\nЛьвів;Ні\nОдеса;Ні\nХарків;Ні\nДніпро;Ні\nВінниця;Ні\n", "\u0373"},
		{"Windows-1251", charmap.Windows1251, russian + strings.Repeat(russian, 5) + "«Р»,«С»\n", "\u043B"},
		{"GB18030", simplifiedchinese.GB18030, simplified + "5,女\n", "\u016E"},
	} {
		encoded := encode(tt.encoding, tt.text)
		if !strings.Contains(encoded, tt.accident) {
			t.Errorf("%s: %q has no %q", tt.name, encoded, tt.accident)
		}
		got, notes, err := decode(t, memory{Content: encoded}, "")
		if err != nil || got != tt.text || !strings.Contains(strings.Join(notes, "\n"), tt.name) {
			t.Errorf("%s: got %q, notes %q, error %v", tt.name, got, notes, err)
		}
	}
}

// TestGuessEncoding_mixed rejects texts some of whose lines are UTF-8.
func TestGuessEncoding_mixed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		encoding encoding.Encoding
		text     string
	}{
		{charmap.Windows1252, "ville,café\nOrléans,crème\nBesançon,thé\n"},
		{charmap.Windows1252, "prix,5\u00A0€\nété,6\u00A0€\n"},
		{charmap.Windows1251, russian},
		{charmap.Windows1250, polish},
		{japanese.ShiftJIS, kana},
	} {
		single := encode(tt.encoding, tt.text)
		for _, content := range []string{single + tt.text, tt.text + single, strings.Repeat(single, 30) + tt.text} {
			if got, _, err := decode(t, memory{Content: content}, ""); err == nil {
				t.Errorf("%q is read as %q", content, got)
			}
		}
	}
}

// TestGuessEncoding_hostile reads contents that are no text, long lines, and characters that the
// end of the examined head divides.
func TestGuessEncoding_hostile(t *testing.T) {
	t.Parallel()
	var high []byte
	for b := 0x80; b <= 0xFF; b++ {
		high = append(high, byte(b))
	}
	if got, _, err := decode(t, memory{Content: string(high)}, ""); err == nil {
		t.Errorf("bytes beyond ASCII are read as %q", got)
	}
	line := strings.Repeat("Zürich Genève ", 150_000) // more than 2 MB
	for _, e := range []encoding.Encoding{charmap.Windows1252, charmap.Macintosh} {
		if got, _, err := decode(t, memory{Content: encode(e, line)}, ""); err != nil || got != line {
			t.Errorf("%v: a long line is read as %.50q, error %v", e, got, err)
		}
	}
	for pad := headBytes - 4; pad <= headBytes; pad++ {
		for _, tt := range []struct {
			name, text string
			encoding   encoding.Encoding
		}{
			{"", russian, encoding.Nop}, {"Shift_JIS", kana, japanese.ShiftJIS},
			{"GB18030", simplified, simplifiedchinese.GB18030},
			{"macintosh", strings.Repeat("Zürich\n", 15), charmap.Macintosh},
		} {
			text := tt.text + strings.Repeat("x", pad-len(encode(tt.encoding, tt.text))-1) + "\n" + tt.text
			got, notes, err := decode(t, memory{Content: encode(tt.encoding, text)}, "")
			if err != nil || got != text || len(notes) > 0 != (tt.name != "") || tt.name != "" &&
				!strings.Contains(notes[0], tt.name) {
				t.Errorf("%d bytes before the end in %q: notes %q, error %v", pad, tt.name, notes, err)
			}
		}
	}
}

// FuzzGuessEncoding checks that contents are either rejected or decoded in the encoding that the
// decoder names.
func FuzzGuessEncoding(f *testing.F) {
	for _, e := range []encoding.Encoding{charmap.Windows1251, charmap.CodePage866, charmap.KOI8R, japanese.ShiftJIS} {
		f.Add([]byte(encode(e, "год,4\n")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := Open(t.Context(), memory{Content: string(in)}, "", 1<<30)
		if err != nil {
			return
		}
		defer r.Close()
		got, _ := r.Peek(1 << 30)
		if mark, _ := detectUnicode(in); r.Err() != nil || mark != "" || r.Encoding() == "" {
			return
		}
		want, _, err := decode(t, memory{Content: string(in)}, r.Encoding())
		if err != nil || string(got) != want {
			t.Errorf("%q is read as %q in %s, and as %q with its name, error %v", in, got, r.Encoding(), want, err)
		}
	})
}

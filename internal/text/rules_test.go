package text_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

var freeze = flag.Bool("freeze", false, "write the table of the rules if there is none for their number")

// TestRules compares the rules with the table frozen for their number. The indexes in files contain
// data computed by the rules and are rebuilt by programs with different rules. After a change of
// the rules, or an update of a module or the compiler that changes them, increment the number in
// rules and freeze a new table:
//
//	go test ./internal/text -run TestRules -freeze
func TestRules(t *testing.T) {
	t.Parallel()
	number, _, _ := strings.Cut(text.Rules(), ",")
	path := filepath.Join("testdata", "rules-"+number+".txt")
	got := rulesTable(t)
	want, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && *freeze {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	is, was := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	shown := 0
	for i := range max(len(is), len(was)) {
		a, b := lineOf(was, i), lineOf(is, i)
		if a == b {
			continue
		}
		shown++
		if shown <= 20 {
			t.Errorf("line %d\nwas %s\nis  %s", i+1, a, b)
		}
	}
	t.Errorf("%d lines differ from %s. The text rules have changed: if intended, increment the number in rules and "+
		"freeze a new table (see "+
		"this test). After the update, the index of every version is rebuilt.", shown, path)
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// rulesTable returns the results of the rules for a broad sample of Unicode: text samples in full;
// for single characters, alone and between letters and digits, one checksum per 128.
func rulesTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "rules %s\n", text.Rules())
	for _, s := range ruleSamples {
		fmt.Fprintf(&b, "%+q fold %+q words %+q elements %+q key %x\n",
			s, text.Fold(s), text.AppendWords(nil, s), text.Elements(&herb.Field{}, s), text.CollationKey(s))
	}
	for _, s := range []string{"0", "-0", "0.0", "1", "-1", "1.50", "-1.05", "0.001", "9007199254740993",
		"-12345678901234567890.5", "1e5", "01", ""} {
		key, ok := text.Key(herb.TypeNumber, s)
		fmt.Fprintf(&b, "number %q key %x %v\n", s, key, ok)
	}
	for _, s := range []string{"2024-02-29", "2023-02-29", "0000-01-01", "9999-12-31", "2024-1-1"} {
		key, ok := text.Key(herb.TypeDate, s)
		fmt.Fprintf(&b, "date %q key %x %v\n", s, key, ok)
	}
	for _, part := range []struct{ first, last, step rune }{
		{0, 0x33FF, 1}, {0x3400, 0x9FFF, 61}, {0xA000, 0xABFF, 1}, {0xAC00, 0xD7A3, 61}, {0xD7A4, 0xD7FF, 1},
		{0xE000, 0xF8FF, 997}, {0xF900, 0x12FFF, 1}, {0x13000, 0x1AFFF, 7}, {0x1B000, 0x1BFFF, 7},
		{0x1C000, 0x1FFFF, 3},
		{0x20000, 0x323AF, 997}, {0xE0000, 0xE01EF, 1},
	} {
		for from := part.first; from <= part.last; from += 128 * part.step {
			to := min(from+128*part.step-1, part.last)
			fmt.Fprintf(&b, "%05X..%05X %08x\n", from, to, checksum(from, to, part.step))
		}
	}
	return b.String()
}

// checksum hashes the results of the rules for a range of characters.
func checksum(from, to, step rune) uint32 {
	h := fnv.New32a()
	for r := from; r <= to; r += step {
		s := string(r)
		fmt.Fprintf(h, "%d %q %q %q %q\n", r, text.Fold(s), text.CollationKey(s), text.AppendWords(nil, s),
			text.AppendWords(nil, "a"+s+"b 1"+s+"2"))
	}
	return h.Sum32()
}

// ruleSamples are texts in which the treatment of a character depends on adjacent ones.
var ruleSamples = []string{
	"", "Rose", "rosé", "ROSÉ", "rose\u0301", "Ångström", "A\u030angstro\u0308m", "Straße", "STRASSE", "İstanbul",
	"ısırgan", "Çelik",
	"ΣΊΣΥΦΟΣ", "σίσυφος", "ёлка", "Щука", "植物園", "バラ", "ﾊﾞﾗ", "か\u3099", "が", "カタカナとひらがな", "हिन्दी में", "ภาษาไทย",
	"한국어 문장", "\u1112\u1161\u11ab",
	"שלום", `צה"ל`, "مُحَمَّد", "العربية", "🌹", "👩\u200d🌾", "👍🏽", "🇹🇷🇩🇪", "❤\ufe0f", "AB-12/7", "3,14", "3.14",
	"1.2.3.4", "00042", "1e5",
	"don't", "don’t", "x_y", "_", "a:b", "a.b", "foo@bar.example", "https://example.org/a?b=c", "C++", "C#", "#tag",
	"№5", "ﬁg", "①②", "½", "x²",
	"so\u00ADft", "zero\u200Bwidth", "no\u00A0break", "\u202Ertl", "tab\tnew\nline", "\x00\x1f", "\xff\xfe", "\u2028",
	"\ufeff", "\ufffd",
	"red, climbing", ",,", " a ,, b ", "a,\u00A0b", "co-op", "coöp", "coop", "Zebra", "zebra", "ábc", "abd", "æ", "ae",
	"œ", "ø", "ð", "þ", "ł",
	"Ǆ", "ǅ", "ǆ", "ﬃ", "ſ", "K", "Å", "Ω", "𝐀", "Ａ", "ａ", "㎏", "㍿", "Ꭰ", "ꭰ", "ᏸ", "ཀྵ", "ကြောင့်", "ខ្មែរ", "ລາວ",
	"አማርኛ", "ქართული", "Ծ", "ᠮᠣᠩᠭᠣᠯ",
}

package comparisons

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"herbarium/internal/herb"
)

// Text is a value as a table shows it; without pieces, it is empty.
type Text struct{ Pieces []Piece }

// length returns the number of characters of a text.
func (t Text) length() (n int) {
	for _, p := range t.Pieces {
		n += utf8.RuneCountInString(p.Text)
	}
	return n
}

// Piece is a part of a text: characters as they are, or a sign for one that is invisible.
type Piece struct {
	Text string
	Name string // of the invisible character; empty: the text is as it is
}

// plainText returns a value that did not change, on one line.
func plainText(s string) Text {
	if s == "" {
		return Text{}
	}
	oneLine := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return Text{[]Piece{{Text: strings.Clone(herb.Clip(oneLine, maxSame))}}}
}

// compareTexts returns the old and the new value of a changed cell, cut to what is around their
// first difference, and why they look the same if they do.
func compareTexts(old, now string) (before, after Text, note string) {
	start := differenceStart(old, now)
	return visible(window(old, start)), visible(window(now, start)), alike(old, now)
}

// differenceStart returns where to begin to show two values: at their start, or a few characters
// before their first difference if that would not be shown.
func differenceStart(a, b string) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	for at > 0 && (at < len(a) && !utf8.RuneStart(a[at]) || at < len(b) && !utf8.RuneStart(b[at])) {
		at--
	}
	if utf8.RuneCountInString(a[:at]) <= maxChanged-lead {
		return 0
	}
	for range lead {
		_, size := utf8.DecodeLastRuneInString(a[:at])
		at -= size
	}
	return at
}

// window returns a copy of the part of a value that is shown from a position on.
func window(s string, start int) string {
	shown := strings.Clone(herb.Clip(s[start:], maxChanged))
	if start > 0 {
		return "…" + shown
	}
	return shown
}

// visible returns a text in which invisible characters are signs, such as spaces at its ends and
// beside other spaces.
func visible(s string) Text {
	var t Text
	plain := 0
	for i, r := range s {
		sign, name := signOf(r)
		if r == ' ' && (i == 0 || i+1 == len(s) || s[i-1] == ' ' || s[i+1] == ' ') {
			sign, name = "␣", "space"
		}
		if name == "" {
			continue
		}
		if plain < i {
			t.Pieces = append(t.Pieces, Piece{Text: s[plain:i]})
		}
		t.Pieces = append(t.Pieces, Piece{sign, name})
		plain = i + utf8.RuneLen(r)
	}
	if plain < len(s) {
		t.Pieces = append(t.Pieces, Piece{Text: s[plain:]})
	}
	return t
}

// signOf returns the sign for a character that is invisible wherever it is, and its name; empty: it
// is visible, or a space.
func signOf(r rune) (sign, name string) {
	switch {
	case r == '\t':
		return "⇥", "tab"
	case r == '\n':
		return "↵", "line feed"
	case r == '\r':
		return "␍", "carriage return"
	case r == '\u00a0':
		return "⍽", "no-break space"
	case r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)):
		return codePoint(r), "invisible character"
	}
	return "", ""
}

func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }

// alike returns why two values that differ look the same; empty: they do not, or they are too long
// to tell.
func alike(a, b string) string {
	const longest = 4 << 10 // bytes
	switch {
	case a == "", b == "", max(len(a), len(b)) > longest:
		return ""
	case norm.NFC.String(a) == norm.NFC.String(b):
		return "the same characters, composed in another way: " + firstDifference(a, b)
	case withoutInvisible(a) == withoutInvisible(b):
		return "only invisible characters differ"
	case skeleton(a) == skeleton(b):
		return "other characters that look alike: " + firstDifference(a, b)
	}
	return ""
}

// withoutInvisible returns a text without its spaces and invisible characters.
func withoutInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if _, name := signOf(r); name != "" || r == ' ' {
			return -1
		}
		return r
	}, s)
}

// firstDifference names the first characters in which two texts differ.
func firstDifference(a, b string) string {
	old, now := []rune(a), []rune(b)
	name := func(text []rune, i int) string {
		if i < len(text) {
			return codePoint(text[i])
		}
		return "the end"
	}
	i := 0
	for i < min(len(old), len(now)) && old[i] == now[i] {
		i++
	}
	return name(old, i) + " became " + name(now, i)
}

// skeleton returns a text in which characters that look like Latin letters, digits, hyphens and
// quotation marks are these.
func skeleton(s string) string {
	const pairs = "АAВBЕEЅSЗ3ІIЈJКKМMНHОOРPСCТTУYХXаaсcеeіiјjоoрpѕsуyхx" + // Cyrillic
		"ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXοoνv" + // Greek
		"\u2010-\u2011-\u2012-\u2013-\u2212-\u2018'\u2019'\u02bc'\u201c\"\u201d\""
	lookalikes := []rune(pairs)
	return strings.Map(func(r rune) rune {
		if i := slices.Index(lookalikes, r); r > unicode.MaxASCII && i >= 0 {
			return lookalikes[i+1]
		}
		return r
	}, norm.NFKC.String(s))
}

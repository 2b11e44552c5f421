package herb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what publishers say about versions.
const (
	MaxLabel   = 64  // characters of a label
	MaxLabels  = 200 // of a dataset
	MaxMessage = 500 // characters of the message of a version
)

// LabelPattern returns the regular expression of a label, which Go and the pattern of an HTML input
// read alike. Labels can be written as a segment of a path and as an argument of a command.
func LabelPattern() string { return fmt.Sprintf(`[A-Za-z0-9][A-Za-z0-9._\-]{0,%d}`, MaxLabel-1) }

var (
	validLabel  = regexp.MustCompile("^" + LabelPattern() + "$")
	versionLike = regexp.MustCompile(`^\d{8}T\d{6}Z`)
)

// IsLabel reports whether a text can be the label of a version: it never looks like the name of
// one, and is neither a key nor one of reservedLabels.
func IsLabel(s string) bool {
	return validLabel.MatchString(s) && !versionLike.MatchString(s) && !ContainsSecret(s) &&
		!slices.Contains(reservedLabels(), strings.ToLower(s))
}

// reservedLabels returns the words that name whichever version is live.
func reservedLabels() []string { return []string{"live", "latest"} }

// ParseLabel returns a label, or an error that says what is valid.
func ParseLabel(s string) (string, error) {
	switch {
	case ContainsSecret(s):
		return "", Invalidf("the label contains a key, and everyone can read labels; revoke the key if others may " +
			"have seen it")
	case !IsLabel(s):
		return "", Invalidf("%q is not a label; write up to %d letters (A-Z, a-z), digits, '.', '_' and '-', "+
			"starting with a letter or digit, that "+
			"do not look like the name of a version and are not %s, such as 2026-Q1", Clip(s, MaxLabel), MaxLabel,
			strings.Join(reservedLabels(), " or "))
	}
	return s, nil
}

// ParseMessage returns the message of a version without surrounding blanks. It fails for a message
// that is too long, has control characters, reorders the text around it, cannot be seen or contains
// a key.
func ParseMessage(s string) (string, error) {
	s = strings.TrimSpace(s)
	n := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		return "", Invalidf("the message is not valid UTF-8")
	case n > MaxMessage:
		return "", Invalidf("the message has %d characters; write at most %d", n, MaxMessage)
	case strings.ContainsFunc(s, unicode.IsControl):
		return "", Invalidf("the message has control characters, such as line breaks; write one line of text")
	case strings.ContainsFunc(s, isBidiControl):
		return "", Invalidf("the message has the character %U, which reorders the text around it; leave it out",
			[]rune(s)[slices.IndexFunc([]rune(s), isBidiControl)])
	case s != "" && !strings.ContainsFunc(s, IsVisible):
		return "", Invalidf("the message has no visible character; write at least one, or leave out the message")
	case ContainsSecret(s):
		return "", Invalidf("the message contains a key, and everyone can read messages; revoke the key if others " +
			"may have seen it")
	}
	return s, nil
}

// isBidiControl reports whether a character changes the direction of the text after it. The marks
// that only have a direction themselves do not; texts from right to left need them.
func isBidiControl(r rune) bool {
	const leftToRightMark, rightToLeftMark, arabicLetterMark = '\u200e', '\u200f', '\u061c'
	return unicode.Is(unicode.Bidi_Control, r) && r != leftToRightMark && r != rightToLeftMark && r != arabicLetterMark
}

// IsVisible reports whether a character is visible: not a blank or a formatting character.
func IsVisible(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsPrint(r) && r != ' ' && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

package charset

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// singleByte is an encoding with one byte per character.
type singleByte struct {
	name  string
	table *charmap.Charmap
	// frequent has letters that are at least minFrequent percent of a text, in lower case, if the
	// alphabet is not Latin.
	frequent  string
	isOffered bool // the publisher may choose it, but it is never guessed
}

func (s singleByte) isLatin() bool { return s.frequent == "" }

// singleByteEncodings returns the encodings that are compared. Of encodings that fit equally well,
// the first one is chosen.
func singleByteEncodings() []singleByte {
	return []singleByte{
		{name: windows1252, table: charmap.Windows1252},
		{name: "macintosh", table: charmap.Macintosh},
		{name: "Windows-1251", table: charmap.Windows1251, frequent: cyrillic},
		{name: "Windows-1250", table: charmap.Windows1250, isOffered: true},
		{name: "ISO-8859-2", table: charmap.ISO8859_2, isOffered: true},
		{name: "CP850", table: charmap.CodePage850, isOffered: true},
		{name: "CP437", table: charmap.CodePage437, isOffered: true},
		{name: "CP852", table: charmap.CodePage852, isOffered: true},
		{name: "Windows-1254", table: charmap.Windows1254, isOffered: true},
		{name: "Windows-1257", table: charmap.Windows1257, isOffered: true},
		{name: "KOI8-U", table: charmap.KOI8U, frequent: cyrillic, isOffered: true},
		{name: "CP866", table: charmap.CodePage866, frequent: cyrillic, isOffered: true},
		{name: "ISO-8859-5", table: charmap.ISO8859_5, frequent: cyrillic, isOffered: true},
		{name: "Windows-1253", table: charmap.Windows1253, frequent: greek, isOffered: true},
		{name: "ISO-8859-7", table: charmap.ISO8859_7, frequent: greek, isOffered: true},
	}
}

const (
	windows1252 = "Windows-1252"
	cyrillic    = "аеинотсрвліј" // in Russian, Ukrainian, Belarusian, Bulgarian, Serbian and Macedonian
	greek       = "αοιετνσηρκπς"
	minFrequent = 50
	maxShare    = 5 // a letter that is more than one in so many is not frequent in any language
)

// characterClass says where a character may be in a word.
type characterClass byte

const (
	classOther      characterClass = iota // ASCII that is not a letter
	classLower                            // letter
	classUpper                            // letter
	classApostrophe                       // may be within a word
	classJoiner                           // may be anywhere, such as a dash
	classSymbol                           // not within a word, such as a quote
	classOpening                          // not after a letter, such as a currency sign
	classOdd                              // not beside a letter, such as a line of a frame
	classUndefined                        // no character
)

func (c characterClass) isLetter() bool { return c == classLower || c == classUpper }

// classify returns the class of each byte.
func (s singleByte) classify() (classes [256]characterClass) {
	for i := range classes {
		r := s.table.DecodeByte(byte(i))
		isOwn := r < utf8.RuneSelf || unicode.Is(unicode.Latin, r) == s.isLatin()
		switch {
		case r == utf8.RuneError || i >= utf8.RuneSelf && r < 0xA0:
			classes[i] = classUndefined
		case r == '’':
			classes[i] = classApostrophe
		case strings.ContainsRune("´–—…·«»\u00A0\u00ADµ", r):
			classes[i] = classJoiner
		case strings.ContainsRune("¿¡½¼¾±×÷£¥¢¤", r):
			classes[i] = classOpening
		case strings.ContainsRune("ªºƒ", r):
			classes[i] = classSymbol
		case unicode.IsLower(r) && isOwn:
			classes[i] = classLower
		case unicode.IsUpper(r) && isOwn:
			classes[i] = classUpper
		case i < utf8.RuneSelf:
			classes[i] = classOther
		case r <= 0xFF && !strings.ContainsRune("¨¸¯¦¬", r) || strings.ContainsRune("“”‘‚„‹›€™•†‡‰№", r):
			classes[i] = classSymbol
		default:
			classes[i] = classOdd
		}
	}
	return classes
}

// encodingFit says how well the bytes beyond ASCII fit an encoding.
type encodingFit struct {
	singleByte
	classes         [256]characterClass
	isImpossible    bool // a byte has no character
	good, bad       int  // letters after a letter, and characters where no word has them
	all             int  // bytes beyond ASCII
	letters         int  // beyond ASCII
	adjacent        int  // bytes beyond ASCII after another one, without repetitions
	frequentLetters int  // letters that are frequent in the languages, if the alphabet is not Latin
}

// fit examines the bytes in an encoding.
func (c *byteCounts) fit(s singleByte, pairs []bytePair) *encodingFit {
	e := &encodingFit{singleByte: s, classes: s.classify()}
	var all [256]int
	for _, p := range pairs {
		good, bad := e.judge(p.first, p.second)
		e.good, e.bad = e.good+good*p.n, e.bad+bad*p.n
		if p.second < utf8.RuneSelf {
			continue
		}
		class := e.classes[p.second]
		e.isImpossible = e.isImpossible || class == classUndefined
		e.all += p.n
		all[p.second] += p.n
		if p.first >= utf8.RuneSelf && p.first != p.second {
			e.adjacent += p.n
		}
		if class.isLetter() {
			e.letters += p.n
		}
	}
	for b, n := range c.within {
		switch e.classes[b] {
		case classApostrophe:
			e.good += n
		case classSymbol:
			e.bad += n
		case classUpper:
			e.good, e.bad = e.good-c.inCapitalized[b], e.bad+c.inCapitalized[b]
		}
	}
	for b, n := range all {
		if n > 0 && strings.ContainsRune(s.frequent, unicode.ToLower(s.table.DecodeByte(byte(b)))) {
			e.frequentLetters += min(n, e.all/maxShare)
		}
	}
	return e
}

// judge returns 1 for good if the second of two bytes is a letter beyond ASCII that may follow the
// first, and 1 for bad if no word has the two characters.
func (e *encodingFit) judge(first, second byte) (good, bad int) {
	a, b := e.classes[first], e.classes[second]
	switch {
	case a.isLetter() && b.isLetter():
		mixesAlphabets := !e.isLatin() && (first < utf8.RuneSelf) != (second < utf8.RuneSelf)
		if mixesAlphabets || a == classLower && b == classUpper {
			return 0, 1
		} else if second >= utf8.RuneSelf {
			return 1, 0
		}
	case a.isLetter() && (b == classOpening || b == classOdd), a == classOdd && b.isLetter():
		return 0, 1
	case first >= utf8.RuneSelf && a.isLetter() && second >= '0' && second <= '9':
		return 0, 1
	}
	return 0, 0
}

// judgeValidRuns judges bytes that are UTF-8. The first byte of frequent characters of UTF-8 is a
// letter in the encodings of Latin alphabets, with a symbol after it.
func (e *encodingFit) judgeValidRuns(pairs []bytePair) (good, bad int) {
	for _, p := range pairs {
		g, b := e.judge(p.first, p.second)
		if p.first >= utf8.RuneSelf && e.classes[p.first].isLetter() && p.second >= utf8.RuneSelf &&
			!e.classes[p.second].isLetter() {
			if e.classes[p.second] > classJoiner || e.isLatin() &&
				strings.IndexByte("\xC2\xC3\xC4\xC5\xE2", p.first) >= 0 {
				b = 1
			}
		}
		good, bad = good+g*p.n, bad+b*p.n
	}
	return good, bad
}

// wellFormed returns how many percent of the bytes that belong to words make words.
func (e *encodingFit) wellFormed() int {
	if e.good+e.bad == 0 {
		return 100
	}
	return 100 * e.good / (e.good + e.bad)
}

func (e *encodingFit) score() int {
	return e.wellFormed() + 100*e.frequentLetters/max(e.all, 1)
}

// isUsable reports whether the content can be decoded, and whether its letters are between those of
// ASCII, as in Latin text, or as frequent as in the other alphabet.
func (e *encodingFit) isUsable(c *byteCounts) bool {
	isDense := 2*e.adjacent > e.all
	switch {
	case e.isImpossible || c.hasZero:
		return false
	case e.isLatin():
		return !isDense || e.all < 10
	}
	return isDense && e.letters >= 20 && 100*e.frequentLetters >= minFrequent*e.all && e.wellFormed() >= 80
}

// isEvident reports whether the bytes can be read in the encoding without asking the publisher.
func (e *encodingFit) isEvident(c *byteCounts) bool {
	const mostWords = 80 // percent
	return e.isUsable(c) && !e.isOffered && (e.name == windows1252 || c.high >= minEvidence) &&
		e.wellFormed() >= mostWords
}

// replaces reports whether the evidence suffices to prefer the encoding to Windows-1252: nearly all
// words are well-formed, and most are not in Windows-1252.
func (e *encodingFit) replaces(western *encodingFit, c *byteCounts) bool {
	if e.isOffered || c.high < minEvidence || !e.isUsable(c) {
		return false
	}
	const nearlyAll, most = 95, 70 // percent
	return !e.isLatin() || e.wellFormed() >= nearlyAll && e.good > 0 &&
		(!western.isUsable(c) || western.wellFormed() <= most)
}

// rankEncodings returns the encodings by how well they fit. The first is Windows-1252 unless there
// is evidence for another one.
func (c *byteCounts) rankEncodings() []*encodingFit {
	var fits []*encodingFit
	pairs := c.pairs.list()
	for _, s := range singleByteEncodings() {
		fits = append(fits, c.fit(s, pairs))
	}
	western := fits[0]
	rank := func(e *encodingFit) int {
		switch {
		case e == western:
			return 1
		case e.replaces(western, c):
			return 2
		}
		return 0
	}
	slices.SortStableFunc(fits, func(a, b *encodingFit) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(b.score(), a.score()))
	})
	return fits
}

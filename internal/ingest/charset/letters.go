package charset

import (
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

// letterCounts counts the bytes beyond ASCII that follow an ASCII letter.
type letterCounts struct {
	all        [256]int // that may be letters
	afterLower [256]int // after a lower-case letter
}

func (c *letterCounts) add(last, b byte) {
	isLower := last >= 'a' && last <= 'z'
	if isLower {
		c.afterLower[b]++
	}
	if (isLower || last >= 'A' && last <= 'Z') && (b > 0xA0 || unicode.IsLetter(charmap.Windows1250.DecodeByte(b))) {
		c.all[b]++
	}
}

// isMacRoman reports whether nearly all of at least some bytes after lower-case letters are
// lower-case letters or punctuation in Mac Roman, and nearly none are in Windows-1252: there, donÕt
// has a capital letter where Mac Roman has an apostrophe.
func (c *letterCounts) isMacRoman(some int) bool {
	all, mac, windows := 0, 0, 0
	mayFollow := func(r rune) bool {
		return unicode.IsLower(r) || strings.ContainsRune("’”…–—\u00A0", r)
	}
	for b, n := range c.afterLower {
		all += n
		if mayFollow(charmap.Macintosh.DecodeByte(byte(b))) {
			mac += n
		}
		if mayFollow(charmap.Windows1252.DecodeByte(byte(b))) {
			windows += n
		}
	}
	return all >= some && 20*mac >= 19*all && 20*windows <= all
}

// percent returns how many of the bytes are letters of a language, given in lower case, in its
// encoding. Too few are 0 %.
func (c *letterCounts) percent(encoding *charmap.Charmap, language string) int {
	all, known, distinct := 0, 0, 0
	for b, n := range c.all {
		all += n
		if n > 0 && strings.ContainsRune(language, unicode.ToLower(encoding.DecodeByte(byte(b)))) {
			known += n
			distinct++
		}
	}
	if all < 20 || distinct < 3 { // the first bytes of quotes in East Asian encodings, for example
		return 0
	}
	return 100 * known / all
}

// encoding returns the encoding of a language of Central Europe, the Baltic or Turkey if the
// letters are those of the language and not of one that is written in Windows-1252. It returns ""
// otherwise.
func (c *letterCounts) encoding() string {
	for _, western := range []string{
		"àâæçèéêëîïôùûüœ", "äöüß", "áéíñóúü", "àáâãçéêíóôõúü", "åäæéöø", "àèéìòù", "áæéíðóöúýþ", "èéêëïöü", "äõöüšž", "àçèéíïòóúü",
	} {
		if c.percent(charmap.Windows1252, western) > 95 {
			return ""
		}
	}
	central := []string{
		"óąćęłńśźż", "áéíóúýčďěňřšťůž", "áäéíóôúýčďĺľňŕšťž", "áéíóöúüőű", "ćčđšž", "âîăşţ",
	}
	for _, candidate := range []struct {
		name      string
		encoding  *charmap.Charmap
		languages []string
	}{
		{"Windows-1250", charmap.Windows1250, central},
		{"ISO-8859-2", charmap.ISO8859_2, central},
		{"Windows-1254", charmap.Windows1254, []string{"âçîöûüğiış"}}, // i is the lower case of İ
		{"Windows-1257", charmap.Windows1257, []string{"ąčęėįšūųž", "āčēģīķļņšūž"}},
	} {
		for _, language := range candidate.languages {
			if c.percent(candidate.encoding, language) >= 98 {
				return candidate.name
			}
		}
	}
	return ""
}

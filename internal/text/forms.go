package text

import (
	"slices"
	"strings"
)

// MinFormLetters is the minimum number of letters of a word that has other forms.
const MinFormLetters = 4

// FormRules is the number of the rules of Forms. It is part of the entity tags of searches: raise
// it if Forms returns other words.
const FormRules = "1"

// Forms returns the other forms of a folded word that may occur in texts, sorted: its singular and
// plural, its cases, the possessive, and the word after an elided article or without it. It returns
// none for a word with fewer than MinFormLetters letters or with other characters than ASCII
// letters and apostrophes, such as a code.
//
// A form has another ending by the light inflection of English, German, French, Spanish,
// Portuguese, Italian or Dutch. The language of the word is unknown, so that most of the results do
// not exist. Endings that derive other words, such as -er and -ion of English, are no inflection. A
// word is a form of each of its forms, unless it is too short.
func Forms(word string) []string {
	letters := 0
	for i := range len(word) {
		switch c := word[i]; {
		case 'a' <= c && c <= 'z':
			letters++
		case c != '\'':
			return nil
		}
	}
	if letters < MinFormLetters {
		return nil
	}
	article, bare := cutArticle(word)
	if strings.Contains(strings.TrimSuffix(bare, "'s"), "'") {
		return nil // such as aujourd'hui
	}
	f := forms{word: word}
	if article == "" || slices.Contains(shortArticles, article) {
		plain := forms{word: bare}
		plain.inflect()
		for _, form := range plain.found {
			f.add(form)
			if beginsWithVowel(form) {
				for _, article := range shortArticles {
					f.add(article + form)
				}
			}
		}
	}
	f.add(bare)
	if beginsWithVowel(bare) {
		for _, articles := range [][]string{shortArticles, longArticles} {
			for _, article := range articles {
				f.add(article + bare)
			}
		}
	}
	slices.Sort(f.found)
	return f.found
}

// Articles and prepositions of French and Italian that lose their vowel before another one. A word
// has its other number only after the short ones.
var (
	shortArticles = []string{"l'", "d'"}
	longArticles  = []string{"qu'", "un'", "dell'", "all'", "dall'", "nell'", "sull'"}
)

// cutArticle splits a word after an elided article; article is empty if there is none.
func cutArticle(word string) (article, bare string) {
	if i := strings.IndexByte(word, '\''); i > 0 && beginsWithVowel(word[i+1:]) {
		article = word[:i+1]
		if slices.Contains(shortArticles, article) || slices.Contains(longArticles, article) {
			return article, word[i+1:]
		}
	}
	return "", word
}

func beginsWithVowel(word string) bool {
	return word != "" && strings.IndexByte("aeiouyh", word[0]) >= 0
}

// forms collects the forms of a word.
type forms struct {
	word  string
	found []string
}

func (f *forms) add(form string) {
	if form != f.word && !slices.Contains(f.found, form) {
		f.found = append(f.found, form)
	}
}

// inflect adds the words with other endings.
func (f *forms) inflect() {
	rules := alternations()
	for i := range len(f.word) + 1 {
		for _, r := range rules[f.word[i:]] {
			stem := f.word[:len(f.word)-len(r.ending)]
			if len(stem) < r.minStem || r.whole && i > 0 ||
				slices.ContainsFunc(r.except, func(end string) bool { return strings.HasSuffix(stem, end) }) {
				continue
			}
			for _, other := range r.endings {
				if other != r.ending && !isUnrelated(f.word, stem+other) {
					f.add(stem + other)
				}
			}
		}
	}
	f.inflectDutch()
}

// inflectDutch adds plurals in which a long vowel is written once or a consonant twice, and the
// singular: boom and bomen, brief and brieven, plan and plannen.
func (f *forms) inflectDutch() {
	add := func(form string) {
		if !isUnrelated(f.word, form) {
			f.add(form)
		}
	}
	const long, voiceless, voiced, doubled = "aeou", "fs", "vz", "lmnpskgf"
	isVowel := func(c byte) bool { return strings.IndexByte("aeiouy", c) >= 0 }
	w := f.word
	if n := len(w); n >= 4 && !isVowel(w[n-1]) && w[n-1] != '\'' && isVowel(w[n-2]) {
		last := w[n-1:]
		if w[n-3] == w[n-2] && strings.IndexByte(long, w[n-2]) >= 0 {
			if i := strings.Index(voiceless, last); i >= 0 {
				last = voiced[i : i+1]
			}
			add(w[:n-2] + last + "en")
		} else if !isVowel(w[n-3]) && strings.Contains(doubled, last) {
			add(w + last + "en")
		}
	}
	stem, ok := strings.CutSuffix(w, "en")
	n := len(stem)
	if !ok || n < 2 || isVowel(stem[n-1]) || stem[n-1] == '\'' {
		return
	}
	switch last := stem[n-1:]; {
	case n > 3 && stem[n-2] == stem[n-1] && !isVowel(stem[n-2]) && strings.Contains(doubled, last):
		add(stem[:n-1])
	case strings.IndexByte(long, stem[n-2]) >= 0 && (n == 2 || !isVowel(stem[n-3])):
		if i := strings.Index(voiced, last); i >= 0 {
			last = voiceless[i : i+1]
		}
		add(stem[:n-1] + stem[n-2:n-1] + last)
	}
}

// isUnrelated reports whether two words are different words although their endings alternate.
func isUnrelated(a, b string) bool {
	if b < a {
		a, b = b, a
	}
	_, found := slices.BinarySearch(unrelated, a+" "+b)
	return found
}

package gen

// vocabularySize is the number of words that titles and descriptions are written with.
const vocabularySize = 30_000

// lexicon generates unique pronounceable words.
type lexicon struct {
	rng  rng
	seen map[string]bool
}

// word returns a new word with a number of syllables.
func (l *lexicon) word(syllables int) string {
	onsets := [...]string{
		"b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "gl", "kr", "pl", "sh",
		"st", "th", "tr",
	}
	vowels := [...]string{"a", "e", "i", "o", "u", "a", "e", "i", "o", "u", "ai", "ea", "ou"}
	codas := [...]string{"", "", "", "", "", "n", "r", "l", "s", "m"}
	for {
		var b []byte
		for range syllables {
			b = append(b, onsets[l.rng.below(len(onsets))]...)
			b = append(b, vowels[l.rng.below(len(vowels))]...)
		}
		b = append(b, codas[l.rng.below(len(codas))]...)
		if w := string(b); !l.seen[w] {
			l.seen[w] = true
			return w
		}
	}
}

// vocabulary returns the words of the texts, most frequent first. Frequent words are short.
func (l *lexicon) vocabulary() []string {
	words := make([]string, vocabularySize)
	for i := range words {
		syllables := 2
		if i >= 500 {
			syllables += l.rng.below(2)
		}
		if i >= 3000 {
			syllables = 3 + l.rng.below(5)/4
		}
		words[i] = l.word(syllables)
	}
	return words
}

// wordWeights returns weights by Zipf's law with Mandelbrot's shift: 1/(r+6.5) for the word of rank
// r, counted from 0. With this shift, the most frequent word is in about 40 % of the records.
func wordWeights() []uint64 {
	weights := make([]uint64, vocabularySize)
	for r := range weights {
		weights[r] = 1 << 40 / uint64(2*r+13)
	}
	return weights
}

// capital capitalizes a word that begins with an ASCII letter.
func capital(w string) string { return string(w[0]-'a'+'A') + w[1:] }

// Values that occur in queries, for every seed. The comments give the share of records.
const (
	CommonWord = "zemes"         // in 40 %
	RareWord   = "lanavas"       // in 0.04 %
	FirstWord  = "diglu"         // in 12 %; with SecondWord in 0.5 %
	SecondWord = "breral"        // in 5 %
	Phrase     = "fobrem neglal" // 18 % have the one word, 7 % the other; in 0.05 % they are next to each other
	Prefix     = "kai"           // begins 93 words; in 7 %
	Category   = "shrub"         // of 16 %
	Tag        = "zolour"        // of 2 %
	RareTag    = "krazen"        // of 0.5 %
	Author     = "Zola Söushi"   // of 0.07 %
	PriceFrom  = "20"            // together with PriceBelow 12 %
	PriceBelow = "50"
)

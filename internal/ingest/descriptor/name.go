package descriptor

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/text"
)

// NewRef returns the reference of a dataset that is named after a namespace and a name. path begins
// error messages.
func NewRef(path, namespace, name string) (herb.Ref, error) {
	ref := herb.Ref{Namespace: Slug(namespace), Name: Slug(name)}
	for _, part := range []struct{ given, made string }{{namespace, ref.Namespace}, {name, ref.Name}} {
		if !herb.ValidName(part.made) {
			return ref, herb.At(path,
				herb.Invalidf("cannot name a dataset after %q, because it has no letters and digits; "+
					"choose another name for the dataset", part.given))
		}
	}
	return ref, CheckReserved(path, ref)
}

// Slug makes the name of a dataset or namespace from another name: lower case, without accents,
// letters of other scripts transliterated, every run of other characters replaced by '-'. A long
// name is cut and ends with a checksum. The result is empty if there are no letters and digits.
func Slug(s string) string {
	name := strings.Trim(otherCharacters.ReplaceAllString(transliterate(text.Fold(s)), "-"), "-_.")
	if len(name) > herb.MaxName {
		sum := sha256.Sum256([]byte(name))
		name = strings.TrimRight(name[:herb.MaxName-9], "-_.") + "-" + hex.EncodeToString(sum[:4])
	}
	return name
}

var otherCharacters = regexp.MustCompile(`[^a-z0-9_.]+`)

// IsTransliterated reports whether a name has letters that the name of a dataset made of it does
// not have, so that a title should show them.
func IsTransliterated(name string) bool {
	return strings.ContainsFunc(text.Fold(name), func(r rune) bool {
		return r > unicode.MaxASCII &&
			(unicode.IsLetter(r) || unicode.IsDigit(r))
	})
}

// transliterate replaces letters of other scripts in folded text: Cyrillic and Greek ones, whose
// sounds are known, by letters; all others by u and their code point, because how a Chinese
// character is read depends on the language.
func transliterate(s string) string {
	s = letters.Replace(s)
	if !IsTransliterated(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r > unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteString("u" + strconv.FormatInt(int64(r), 16))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// letters are the transliterations of folded letters.
var letters = strings.NewReplacer(
	"а", "a", "б", "b", "в", "v", "г", "g", "ґ", "g", "д", "d", "ђ", "dj", "е", "e", "є", "ye", "ж", "zh", "з", "z",
	"ѕ", "dz", "и", "i", "і", "i",
	"ј", "j", "к", "k", "л", "l", "љ", "lj", "м", "m", "н", "n", "њ", "nj", "о", "o", "п", "p", "р", "r", "с", "s", "т",
	"t", "ћ", "c", "у", "u",
	"ф", "f", "х", "kh", "ц", "ts", "ч", "ch", "џ", "dz", "ш", "sh", "щ", "shch", "ъ", "", "ы", "y", "ь", "", "э", "e",
	"ю", "yu", "я", "ya",
	"α", "a", "β", "v", "γ", "g", "δ", "d", "ε", "e", "ζ", "z", "η", "i", "θ", "th", "ι", "i", "κ", "k", "λ", "l", "μ",
	"m", "ν", "n", "ξ", "x",
	"ο", "o", "π", "p", "ρ", "r", "σ", "s", "ς", "s", "τ", "t", "υ", "y", "φ", "f", "χ", "ch", "ψ", "ps", "ω", "o",
)

// CheckReserved rejects the reference of the plants, and the namespace whose paths are those of
// publishes.
func CheckReserved(path string, ref herb.Ref) error {
	switch {
	case ref == herb.PlantsRef:
		return herb.At(path, herb.Invalidf("%s is reserved for created plants; choose another name", ref))
	case ref.Namespace == herb.PublishesNamespace:
		return herb.At(path, herb.Invalidf("the namespace %q is reserved for the API; choose another name",
			ref.Namespace))
	}
	return nil
}

// Stem returns the name of a file without its extensions.
func Stem(path string) string {
	base := filepath.Base(file.Uncompressed(path))
	return strings.TrimSuffix(base, filepath.Ext(base))
}

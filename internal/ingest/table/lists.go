package table

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// minListed is the least number of values from which a list is recognized.
const minListed = 3

// minOrdered is the least number of ordered values that show a name above them.
const minOrdered = 5

// listPatterns match the values of lists without a header: hosts, words in small letters, words
// that begin with a capital, identifiers in capitals and digits, other identifiers, sentences.
var listPatterns = []*regexp.Regexp{
	regexp.MustCompile(`^(?i:\*\.)?[\pL\d_-]+(\.[\pL\d_-]+)+\.?$`),
	regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}'-]*$`),
	regexp.MustCompile(`^\p{Lu}[\pL\pM'’.-]*( [\pL\pM'’.-]+){0,2}$`),
	regexp.MustCompile(`^[A-Z][A-Z\d._-]*$`),
	regexp.MustCompile(`^[\dA-Za-z_-]*\d[\dA-Za-z_-]*$`),
	sentence,
}

// sentence matches a text of several words with a full stop or the like.
var sentence = regexp.MustCompile(`\S \S.*[.!?]$`)

// wordLetter matches letters that are words. Other single letters name columns, such as x in R.
var wordLetter = regexp.MustCompile(`^(?i)[aeiouàéèóùавикосуя]$`)

// columnWord matches what names the column of a list, in the languages of many portals: words such
// as name with any text before them, general words that may follow others, such as Type, and words
// that also occur in names of places, such as City, alone or after an underscore.
var columnWord = regexp.MustCompile(`^(?i)(.*(name|namen|nummer|number|code)|(.*[_. -])?(` + strings.Join([]string{
	"address|category|code|date|description|email|group|hash|id|identifier|key|keyword|label|link|list|location|mail|message|note|number|phone",
	"status|title|type|unit|url|value|version",
}, "|") + `)s?|(\S*[_.-])?(` + strings.Join([]string{
	"actor|airport|animal|artist|author|bank|bird|book|brand|city|class|club|color|colour|column|commodity|company|count|country|county|currency",
	"data|day|department|disease|district|domain|drug|entry|event|feature|field|file|firm|fruit|game|gene|header|host|hotel|ids|image|index|ip",
	"isbn|isin|item|kind|lake|language|level|line|month|movie|mp|municipality|node|occupation|organisation|organization|park|party|path|person",
	"place|plant|player|position|product|province|query|question|region|river|sample|school|score|sentence|sequence|song|species|sport|state",
	"station|street|subject|symbol|tag|team|term|text|ticker|time|token|topic|town|user|village|website|word|year|zip",
	"adresse|anzahl|begriff|bezeichnung|datum|gemeinde|jahr|land|ort|plz|schule|stadt|stichwort|straße|titel|wert|wort",
	"año|calle|ciudad|clave|codigo|código|fecha|nombre|pais|país|palabra|valor|annee|année|commune|libelle|libellé|mot|nom|numero|numéro|pays|rue|ville",
	"anno|citta|città|codice|comune|nome|parola|paese|ano|cidade|palavra|gemeente|naam|woord|namn|navn|nazwa|название|имя|слово|город|код|名称|名前|单词",
}, "|") + `)s?)$`)

// isListed reports whether the only value of a row is one of a list rather than its name: it has
// the form of most values below, some of them are like it, and it is not a word that names columns.
// A value above others in alphabetical order that breaks the order is a name.
func (e *evidence) isListed(names Row, below []int) bool {
	name := names.cell(0)
	if names.Filled() != 1 || len(below) < minListed || e.typicalWidth(below) != 1 || columnWord.Match(name) {
		return false
	}
	var values []string
	for _, i := range below {
		values = append(values, strings.ToLower(string(e.Rows[i].cell(0))))
	}
	lower := strings.ToLower(string(name))
	isOrdered := slices.IsSorted(values)
	isFirst := isOrdered && lower < values[0]
	if isOrdered && !isFirst && len(values) >= minOrdered || len(name) == 1 && !isFirst && !wordLetter.Match(name) {
		return false
	}
	isListed := func(p *regexp.Regexp) bool { return p.Match(name) && e.areLike(name, below, p) }
	return slices.ContainsFunc(listPatterns, isListed)
}

// areLike reports whether nine of ten values match a pattern and differ from a name, and one of ten
// begins with a word of its form, or has the length of an identifier.
func (e *evidence) areLike(name []byte, below []int, pattern *regexp.Regexp) bool {
	const identifier = 8 // least length
	form, alike, others := firstForm(name), 0, 0
	for _, i := range below {
		value := e.Rows[i].cell(0)
		if bytes.Equal(value, name) || !pattern.Match(value) {
			others++
		}
		if firstForm(value) == form || pattern == sentence || len(value) == len(name) && len(name) >= identifier {
			alike++
		}
	}
	return 10*others <= len(below) && 10*alike > len(below)
}

// firstForm returns the form of the first word of a text.
func firstForm(text []byte) string {
	word, _, _ := bytes.Cut(text, []byte(" "))
	return formOf(word)
}

// isNamed reports whether the only value of a row is a word that names columns, unlike the values
// below it.
func (e *evidence) isNamed(names Row, below []int) bool {
	name := names.cell(0)
	if names.Filled() != 1 || len(below) == 0 || e.typicalWidth(below) != 1 || !columnWord.Match(name) {
		return false
	}
	form, alike := formOf(name), 0
	for _, i := range below {
		if formOf(e.Rows[i].cell(0)) == form {
			alike++
		}
	}
	return 10*alike <= len(below)
}

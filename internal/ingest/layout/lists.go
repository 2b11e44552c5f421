package layout

import (
	"bytes"
	"regexp"
	"strings"
)

// minListed is the least number of values from which a list is recognized.
const minListed = 3

// listPatterns match the values of lists without a header: hosts, words in small letters, and
// identifiers in capitals and digits. Words that begin with a capital are as often names.
var listPatterns = []*regexp.Regexp{
	regexp.MustCompile(`^(?i:\*\.)?[\pL\d_-]+(\.[\pL\d_-]+)+\.?$`),
	regexp.MustCompile(`^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}'-]+$`),
	regexp.MustCompile(`^[A-Z][A-Z\d._-]+$`),
}

// columnWord matches the words that name the column of a list, in the languages of many portals.
var columnWord = regexp.MustCompile(`^(?i)(\S*[_. -])?(` + strings.Join([]string{
	"address|artist|author|brand|category|city|class|code|color|colour|column|count|country|currency|data|date|day|description|domain|email|entry",
	"feature|field|file|filename|gene|group|hash|header|host|hostname|id|identifier|ids|image|index|ip|isbn|isin|item|key|keyword|kind|label|language|level|line|link|list",
	"location|mail|message|month|name|node|note|number|path|person|phone|place|position|product|query|question|region|sample|school|score|sentence",
	"sequence|species|state|status|street|subject|symbol|tag|term|text|ticker|time|title|token|topic|type|unit|url|user|username|value|version|website|word|year|zip",
	"adresse|anzahl|begriff|bezeichnung|datum|gemeinde|jahr|land|ort|plz|schule|stadt|stichwort|straße|titel|wert|wort",
	"año|calle|ciudad|clave|codigo|código|fecha|nombre|pais|país|palabra|valor|annee|année|commune|libelle|libellé|mot|nom|numero|numéro|pays|rue|ville",
	"anno|citta|città|codice|comune|nome|parola|paese|ano|cidade|palavra|gemeente|naam|woord|namn|navn|nazwa|название|имя|слово|город|код|名称|名前|单词",
}, "|") + `)s?$`)

// isListed reports whether the only value of a row is one of a list rather than its name: like all
// values below it is a host, a word or an identifier, some of them have its form, and it is not a
// word that names columns.
func (e *evidence) isListed(names Row, below []int) bool {
	name := names.cell(0)
	if names.Filled() != 1 || len(below) < minListed || e.typicalWidth(below) != 1 || columnWord.Match(name) {
		return false
	}
	for _, pattern := range listPatterns {
		if !pattern.Match(name) {
			continue
		}
		form, alike, others := formOf(name), 0, 0
		for _, i := range below {
			value := e.Rows[i].cell(0)
			if bytes.Equal(value, name) || !pattern.Match(value) {
				others++
			}
			if formOf(value) == form {
				alike++
			}
		}
		if 10*others <= len(below) && 10*alike > len(below) {
			return true
		}
	}
	return false
}

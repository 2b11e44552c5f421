package profile

import (
	"slices"
	"strings"
	"unicode"

	"herbarium/internal/text"
)

// minCode is the number of digits that every value of a column of codes has at least: small numbers
// are quantities, counts or numbers of rows.
const minCode = 3

// minIdentifier is the number of digits that every value of a column of identifiers has at least.
const minIdentifier = 4

// isCodes reports whether the values of a column are codes, with which nobody calculates, rather
// than quantities: they have only digits, none is small, and the name of the column says so. Names
// that say less also need codes of equal lengths.
func (c *column) isCodes(name string) bool {
	n := &c.numbers
	if n.notDigits || n.fewest < minCode {
		return false
	}
	words := nameWords(name)
	return containsAny(words, codeWords()) || n.fewest == n.most && containsAny(words, weakCodeWords())
}

// isIdentifier reports whether numbers identify records, so that people search for their digits.
func (c *column) isIdentifier(name string) bool {
	if c.numbers.notDigits || c.numbers.fewest < minIdentifier {
		return false
	}
	words := nameWords(name)
	return containsAny(words, codeWords()) || containsAny(words, weakCodeWords()) || containsAny(words, identifierWords())
}

// codeWords returns words in the names of columns that hold postal codes, phone numbers and the
// like, in the languages of common portals, without accents.
func codeWords() []string {
	return []string{
		"zip", "zipcode", "zip5", "postal", "postcode", "postalcode", "postleitzahl", "plz", "postnummer", "postnr", "postnumero", "codepostal", "codigopostal",
		"phone", "telephone", "tel", "telefon", "telefono", "telefone", "telefoonnummer", "telefonnummer", "puhelin", "fax", "mobile", "handy",
		"fips", "geoid", "insee", "ags", "gemeindeschlussel", "istat", "teryt", "siren", "siret", "nuts", "lau",
		"isbn", "issn", "ean", "upc", "gtin", "barcode", "asin", "cas", "iban", "bic", "ssn", "ein", "vat", "tin", "nif", "cif", "cnpj", "cpf", "regon", "pesel", "kvk", "orgnr",
	}
}

// weakCodeWords returns words in the names of columns that hold codes or quantities.
func weakCodeWords() []string {
	return []string{"code", "codes", "kode", "kod", "codigo", "codice", "cod", "cp", "cap", "schlussel", "account", "konto", "kontonummer", "cuenta", "conto", "compte"}
}

// identifierWords returns words in the names of columns that identify records.
func identifierWords() []string {
	return []string{"id", "ids", "identifier", "uid", "key", "nr", "no", "number", "nummer", "numero", "num", "kennung", "matricule"}
}

// isCoordinates reports whether the name of a column says that its values are latitudes or
// longitudes.
func isCoordinates(name string) bool {
	return containsAny(nameWords(name), []string{
		"latitude", "lat", "longitude", "lon", "long", "lng", "decimallatitude", "decimallongitude",
		"latitud", "longitud", "latitudine", "longitudine", "breitengrad", "langengrad",
	})
}

// isScores reports whether the name of a column says that 21:19 is the result of a game or a ratio
// rather than a time.
func isScores(name string) bool {
	words := nameWords(name)
	return !containsAny(words, []string{"time", "zeit", "heure", "hora", "ora"}) && containsAny(words, []string{
		"score", "scores", "result", "results", "ratio", "odds", "ergebnis", "endstand", "resultat", "resultado", "risultato", "uitslag", "wynik",
	})
}

func containsAny(words, any []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(any, w) })
}

// nameWords returns the words of the name of a column, without accents and in lower case:
// zip_code, ZipCode and "ZIP code" have the same.
func nameWords(name string) []string {
	var b strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) || r == '_' {
			b.WriteByte(' ')
		}
		if r != '_' {
			b.WriteRune(r)
		}
		last = r
	}
	return text.AppendWords(nil, b.String())
}

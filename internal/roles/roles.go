// Package roles says what the name of a column means for its values. The last word of the name
// decides: vat is an amount, vat_number is a code.
package roles

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/text"
)

// Role is what the values of a column are, as far as its name says so.
type Role int

// Roles.
const (
	None       Role = iota
	Code            // digits that nobody calculates with, such as postal codes
	WeakCode        // codes if all values have the same length
	Identifier      // identifies records, often a number
	Year
	Date
	Length  // of time
	Result  // of a game, or a ratio: 21:19 is not a time
	Measure // such as prices and rates, whose sum says nothing
	Amount  // a measure that adds up, such as sales and deaths
	Ordinal // a place in an order, or what is counted for another column: ranks, months, sizes of samples
	Birth   // of a life or a record, which is not the time that records are about
	Latitude
	Longitude
	Position // latitude and longitude
	List     // elements with commas between them
)

// roleOf returns the role of a word in lower case and without accents. Two words are written as
// one.
func roleOf(word string) Role {
	switch word {
	case "zip", "zipcode", "postal", "postcode", "postalcode", "postleitzahl", "plz", "postnummer", "postnr",
		"postnumero", "codepostal", "codigopostal",
		"phone", "telephone", "tel", "telefon", "telefono", "telefone", "telefoonnummer", "telefonnummer", "puhelin",
		"fax", "mobilenumber", "mobileno",
		"fips", "geoid", "insee", "ags", "gemeindeschlussel", "istat", "teryt", "siren", "siret", "nuts", "lau",
		"isbn", "issn", "ean", "upc", "gtin", "barcode", "asin", "isin", "iban", "bic", "ssn", "taxid", "vatnumber",
		"vatno", "vatid",
		"iata", "icao", "doi", "orcid",
		"nif", "cif", "cnpj", "cpf", "regon", "pesel", "kvk", "orgnr":
		return Code
	case "code", "codes", "kode", "kod", "codigo", "codice", "schlussel",
		"account", "accountnumber", "accountno", "konto", "kontonummer", "cuenta", "conto", "compte":
		return WeakCode
	case "id", "ids", "identifier", "uid", "uuid", "guid", "key", "nr", "no", "number", "nummer", "numero", "num",
		"kennung", "matricule", "sku", "slug":
		return Identifier
	case "year", "years", "yr", "jahr", "annee", "ano", "anno":
		return Year
	case "date", "dates", "day", "datum", "fecha", "data", "dato", "dt":
		return Date
	case "duration", "runtime", "runningtime", "elapsed", "elapsedtime", "length", "laptime", "dauer", "laufzeit",
		"duree", "duracion", "duracao", "durata":
		return Length
	case "score", "scores", "result", "results", "ratio", "odds", "ergebnis", "endstand", "resultat", "resultado",
		"risultato", "uitslag", "wynik":
		return Result
	case "amount", "betrag", "budget", "cost", "costs", "expenditure", "expenses", "gross", "profit", "revenue",
		"sales", "spend", "spending", "umsatz",
		"count", "counts", "sum", "total", "totals", "quantity", "qty", "volume",
		"births", "calls", "casi", "cases", "confirmed", "deaths", "discharges", "emissions", "employees", "enrollment",
		"generation", "gdp", "goals", "inhabitants", "einwohner", "poblacion", "medals", "passengers", "pop",
		"population", "production", "ridership", "steps", "subscriptions", "trips", "victims", "views",
		"visitors", "visits", "votes":
		return Amount
	case "balance", "bonus", "earnings", "fare", "fee", "gehalt", "income", "lohn",
		"pay", "preis", "price", "prices",
		"prix", "rent", "salaire", "salaries", "salary", "vat", "wage", "wages",
		"usd", "eur", "gbp", "chf",
		"average", "avg", "maximum", "mean", "median", "minimum", "percent", "percentage", "pct", "rate", "rating",
		"share", "close", "size", "val", "value",
		"age", "altitude", "area", "calories", "capacity", "delay", "depth", "distance", "elevation", "energy",
		"gewicht", "height", "kg", "km", "mag", "magnitude", "mass", "mileage", "mpg",
		"power", "precipitation", "pressure", "rain", "speed", "temp", "temperature", "weight", "width", "wind",
		"yield":
		return Measure
	case "rank", "ranking", "index", "row", "rows", "rownames", "unnamed", "sequence", "seq", "order", "ordinal",
		"interval", "episode", "season", "samplesize", "lotsize",
		"quarter", "month", "monat", "mois", "week", "woche", "weekday", "hour", "minute", "second":
		return Ordinal
	case "birth", "birthday", "birthdate", "born", "dob", "death", "died", "updated", "modified":
		return Birth
	case "latitude", "lat", "latitud", "latitudine", "breitengrad", "decimallatitude":
		return Latitude
	case "longitude", "long", "lon", "lng", "longitud", "longitudine", "langengrad", "decimallongitude":
		return Longitude
	case "coordinates", "coordinate", "coords", "coord", "location", "position", "gps", "geo", "geolocation",
		"point", "geopoint",
		"latlon", "latlong", "latlng", "lonlat", "longlat", "lnglat", "latitudelongitude", "longitudelatitude":
		return Position
	case "tags", "taglist", "keywords", "labels", "topics":
		return List
	}
	switch {
	case len(word) > len("valid") && strings.HasSuffix(word, "code"):
		return WeakCode
	case len(word) > len("valid") && strings.HasSuffix(word, "id") &&
		!slices.Contains([]string{"hybrid", "invalid", "liquid", "prepaid", "unpaid"}, word):
		return Identifier
	}
	return None
}

// Of returns the role of a name. A number or a code of something that is a code by itself is one:
// phone_number, ZIP code.
func Of(name string) Role {
	words := split(name)
	if len(words) == 0 {
		return None
	}
	last := roleOf(words[len(words)-1])
	if last == None || last == Amount || last == Date && isTotal(words) {
		last = roleOfPhrase(name, words, last)
	}
	if len(words) == 1 {
		return last
	}
	before := words[len(words)-2]
	if both := roleOf(before + words[len(words)-1]); both != None {
		return both
	}
	if (last == Identifier || last == WeakCode) && roleOf(before) == Code {
		return Code
	}
	if last == List && (before == "row" || before == "column") { // of a pivot table, which names its rows
		return None
	}
	return last
}

// roleOfPhrase returns the role of a name whose last word has the given one: names begin with what
// was counted and added, and say anywhere what was averaged, divided or weighed. A number of
// artists is an amount, an average cost is not.
func roleOfPhrase(name string, words []string, last Role) Role {
	isAverage := func(w string) bool {
		return slices.Contains([]string{"average", "avg", "mean", "median", "per", "percent", "pro", "proportion",
			"proportions", "rate", "share"}, w)
	}
	all := text.IdentifierWords(name)
	isPhysical := len(all) > 0 && slices.Contains([]string{"mm", "cm", "g", "mg", "lbs"}, all[len(all)-1])
	switch {
	case slices.ContainsFunc(words, isAverage) || strings.Contains(name, "%") || isPhysical:
		return Measure
	case isTotal(words):
		return Amount
	case last == None && strings.ContainsAny(name, "$£€"):
		return Measure
	}
	return last
}

// isTotal reports whether a name begins with a word for what was counted or added.
func isTotal(words []string) bool {
	return len(words) > 1 && (slices.Contains([]string{"total", "sum", "anzahl"}, words[0]) ||
		words[0] == "number" && words[1] == "of")
}

// IsResult reports whether a name says that its column is what the table is about, such as the last
// of several prices of a day, or the total of several costs.
func IsResult(name string) bool {
	words := split(name)
	return endsWith(name, "value", "val", "close", "total", "totals", "amount") ||
		isTotal(words) && words[0] == "total" && Of(name) == Amount
}

// IsPrice reports whether a name says that its column is what somebody pays.
func IsPrice(name string) bool { return endsWith(name, "price", "fare", "salary", "rent") }

func endsWith(name string, last ...string) bool {
	words := split(name)
	return len(words) > 0 && slices.Contains(last, words[len(words)-1])
}

// IsNumber reports whether a name says no more of its column than that it has numbers.
func IsNumber(name string) bool { return slices.Equal(split(name), []string{"number"}) }

// IsCode reports whether numbers of this role identify something.
func (r Role) IsCode() bool { return r == Code || r == WeakCode || r == Identifier }

// IsMeasure reports whether numbers of this role measure something.
func (r Role) IsMeasure() bool { return r == Measure || r == Amount || r == Length || r == Result }

// Stem returns the rest of a name with a word of a role, such as pickup_latitude, or one that ends
// with an axis as reclat does. ok is false if no word has the role. Two coordinates have the same
// stem.
func Stem(name string, role Role) (stem string, ok bool) {
	words := text.IdentifierWords(plain(name))
	for i, w := range slices.Backward(words) {
		bare := strings.TrimRight(w, "0123456789")
		if roleOf(bare) == role {
			words[i] = w[len(bare):]
			return strings.Join(words, " "), true
		}
	}
	joined := strings.Join(words, " ")
	for _, suffix := range map[Role][]string{Latitude: {"latitude", "lat"},
		Longitude: {"longitude", "long", "lon", "lng"}}[role] {
		if stem, ok := strings.CutSuffix(joined, suffix); ok {
			return stem, true
		}
	}
	return "", false
}

// plain returns a name without accents. Its words begin with capitals or after blanks.
func plain(name string) string {
	isAccented := func(r rune) bool { return r >= utf8.RuneSelf }
	if len(name) > maxName || !strings.ContainsFunc(name, isAccented) {
		return name
	}
	var b strings.Builder
	var last rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		last = r
	}
	return text.Fold(b.String())
}

// maxName is the length of the longest name that has a role.
const maxName = 128

// split returns the words of a name, in lower case and without accents. A remark in parentheses, a
// number, and what says that coordinates are degrees do not end a name: lat_1, geo_point_2d,
// latitude_deg, Price (EUR).
func split(name string) []string {
	if before, _, ok := strings.Cut(name, "("); ok && strings.TrimSpace(before) != "" {
		name = before
	}
	words := text.IdentifierWords(plain(name))
	for len(words) > 1 && isRemark(words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	for i, w := range words {
		if bare := strings.TrimRight(w, "0123456789"); bare != "" {
			words[i] = bare
		}
	}
	return words
}

func isRemark(word string) bool {
	return '0' <= word[0] && word[0] <= '9' ||
		slices.Contains([]string{"deg", "degree", "degrees", "dd", "wgs", "mm", "cm", "g", "mg", "lbs", "min", "max",
			"n", "days", "hours", "years"},
			strings.TrimRight(word, "0123456789"))
}

package value

import "herbarium/internal/roles"

// minCode is the number of digits that every value of a column of codes has at least: small numbers
// are quantities, counts or numbers of rows.
const minCode = 3

// minIdentifier is the number of digits that every value of a column of identifiers has at least.
const minIdentifier = 4

// isCodes reports whether the values of a column are codes, with which nobody calculates, rather
// than quantities: they have only digits, none is small, and the name of the column says so. Weak
// codes have equal lengths.
func (c *column) isCodes(name string) bool {
	n := &c.numbers
	if n.notDigits || n.fewest < minCode {
		return false
	}
	role := roles.Of(name)
	return role == roles.Code || role == roles.WeakCode && n.fewest == n.most
}

// isIdentifier reports whether numbers identify records, so that people search for their digits.
func (c *column) isIdentifier(name string) bool {
	return !c.numbers.notDigits && c.numbers.fewest >= minIdentifier && roles.Of(name).IsCode()
}

// isCoordinates reports whether the name of a column says that its values are latitudes or
// longitudes.
func isCoordinates(name string) bool {
	role := roles.Of(name)
	return role == roles.Latitude || role == roles.Longitude
}

// isPhoneNumber reports whether a value is digits after a plus sign, as many as phone numbers have.
func isPhoneNumber(v []byte) bool {
	const least = 8
	digits := 0
	for i, c := range v {
		switch {
		case isDigit(c):
			digits++
		case i == 0 && c == '+' || i > 0 && (c == ' ' || c == '-' || c == '/' || c == '(' || c == ')'):
		default:
			return false
		}
	}
	return v[0] == '+' && digits >= least
}

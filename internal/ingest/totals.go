package ingest

import (
	"bytes"
	"context"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Limits of the search for totals, which must cost little beside reading the file.
const (
	maxTotalLabel  = 40      // bytes of a cell that is compared with the words for a total
	maxTotalValues = 64      // different cells with such a word
	maxTotals      = 5       // findings of a table
	maxSumRows     = 20_000  // rows of a table whose sums are compared
	maxSumBytes    = 4 << 20 // of these rows
	maxTotalValue  = 120     // bytes of a value that names a row without such a word
	minTotalRows   = 3       // records of a table with a total
	edgeRows       = 5       // first and last records among which a single total is found
)

// totalWords returns the words that name a total, in lower case. Words that are also a usual value,
// such as "all", are not among them.
func totalWords() []string {
	return strings.Split("total|totals|grand total|subtotal|sub-total|sub total|sum|"+
		"summe|gesamt|insgesamt|gesamtsumme|endsumme|zusammen|gesamttotal|"+
		"total général|total general|total geral|total generale|totale|totale generale|totaal|somme|suma|suma total|soma|"+
		"razem|ogółem|łącznie|suma końcowa|celkem|spolu|összesen|mindösszesen|ukupno|skupaj|sveukupno|"+
		"totalt|summa|i alt|ialt|samtals|yhteensä|kokku|kopā|iš viso|toplam|genel toplam|"+
		"итого|всего|итог|общий итог|разом|усього|всього|общо|σύνολο|"+
		"合計|総計|小計|合计|总计|總計|總和|小计|計|합계|총계|소계|المجموع|الإجمالي|סך הכל|סה\"כ|jumlah|tổng|tổng cộng", "|")
}

// totalDetector finds records that look like totals while the records are read: a cell has a word
// such as Total.
type totalDetector struct {
	words map[string]bool
	// lengths are the lengths of the words by their first byte, so that other cells cost a lookup.
	lengths [256]uint64
	found   map[totalKey]*totalValue
	records int
	buf     []byte
}

type totalKey struct {
	column int
	value  string
}

type totalValue struct {
	count int
	first int // record
	where string
}

func newTotalDetector() *totalDetector {
	d := &totalDetector{words: map[string]bool{}, found: map[totalKey]*totalValue{}}
	for _, word := range totalWords() {
		d.words[word] = true
		for _, w := range []string{word, strings.ToUpper(word)} {
			d.lengths[w[0]] |= 1 << len(w)
		}
	}
	return d
}

// add adds a record.
func (d *totalDetector) add(cells [][]byte, where func() string) {
	for column, c := range cells {
		if len(c) == 0 || len(c) > maxTotalLabel || !d.isTotal(c) {
			continue
		}
		key := totalKey{column, string(c)}
		v := d.found[key]
		if v == nil {
			if len(d.found) == maxTotalValues {
				continue
			}
			v = &totalValue{first: d.records, where: where()}
			d.found[key] = v
		}
		v.count++
	}
	d.records++
}

// isTotal reports whether a cell is a word for a total, in any case, perhaps with a colon or a mark
// of a footnote.
func (d *totalDetector) isTotal(c []byte) bool {
	if first, last := c[0], c[len(c)-1]; first <= ' ' || last <= ' ' || last == ':' || last == '*' {
		if c = bytes.Trim(c, " \t:*"); len(c) == 0 {
			return false
		}
	}
	if d.lengths[c[0]]>>len(c)&1 == 0 {
		return false
	}
	d.buf = d.buf[:0]
	for rest := c; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		d.buf, rest = utf8.AppendRune(d.buf, unicode.ToLower(r)), rest[size:]
	}
	return d.words[string(d.buf)]
}

// labeled returns the columns and values that name totals, in the order of the file: those in a
// single record among the first or last ones, or in several, but at most half of all records. Only
// columns of fields count. A cell that repeats the name of its column is a header.
func (d *totalDetector) labeled(v *view) (keys []totalKey) {
	for key, value := range d.found {
		isAtEdge := value.first < edgeRows || value.first >= d.records-edgeRows
		isExposed := slices.ContainsFunc(v.fields, func(f exposedField) bool { return f.column == key.column })
		if isExposed && 2*value.count <= d.records && (value.count > 1 || isAtEdge) && herb.FoldColumn(v.columns[key.column]) != herb.FoldColumn(key.value) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b totalKey) int {
		if a.column != b.column {
			return a.column - b.column
		}
		return d.found[a].first - d.found[b].first
	})
	return keys
}

// findTotals returns the records that look like totals: a column has a word for a total, or the
// numbers of the first or the last record are the sums of all others. A table without numbers has
// no totals. fields and reports are those of the view.
func (p *pass) findTotals(ctx context.Context, v *view, fields []herb.Field, reports []herb.ColumnReport) (all []herb.TotalRows, err error) {
	d := v.totals
	isNumber := func(r herb.ColumnReport) bool {
		return r.Type == herb.TypeNumber
	}
	if d.records < minTotalRows || !slices.ContainsFunc(reports, isNumber) {
		return nil, nil
	}
	sums, isSure := -1, false // the record whose numbers are the sums of all others
	if d.records <= maxSumRows && p.spill.size <= maxSumBytes {
		if sums, isSure, err = p.findSums(ctx, v, fields); err != nil {
			return nil, err
		}
	}
	singles := map[int]bool{} // records that are found
	for _, key := range d.labeled(v) {
		value := d.found[key]
		if value.count == 1 && singles[value.first] {
			continue
		}
		found := herb.TotalRows{RowValue: herb.RowValue{Column: v.columns[key.column], Value: key.value, Rows: value.count}}
		if value.count == 1 {
			singles[value.first] = true
			found.Where, found.Sums = value.where, value.first == sums
		}
		all = append(all, found)
	}
	if isSure && !singles[sums] {
		found, err := p.nameSums(ctx, v, fields, sums)
		if err != nil {
			return nil, err
		}
		all = append(all, found)
	}
	return all[:min(len(all), maxTotals)], nil
}

// records yields the records of a table with their cells as the settings leave them.
func (p *pass) records(ctx context.Context, v *view, yield func(n int, row *storedRow, cells [][]byte) bool) error {
	n := 0
	var buf [][]byte
	for row, err := range p.spill.rows(ctx, nil) {
		if err != nil {
			return err
		}
		cells, ok := v.narrow(buf[:0], row.cells)
		if v.missing != nil {
			buf = cells
		}
		if !ok {
			continue
		}
		if !yield(n, row, cells) {
			return nil
		}
		n++
	}
	return nil
}

// columnSum is the exact sum of the numbers of a field.
type columnSum struct {
	field       *herb.Field
	column      int
	byPlaces    map[int]*big.Int // sums in units of the decimal places of their numbers
	addends     int              // numbers that are not 0
	first, last string           // of the first and the last record, in plain decimal notation; empty: none
}

// The least evidence that a record without a word for a total is one: the sums of few numbers may
// be equal by chance.
const (
	sureAddends = 6 // of one column, with the sum
	sureColumns = 2 // each with fewer addends
)

// findSums returns the first or the last record if its numbers are the sums of all others, and
// whether this is hardly chance; -1 if there is none.
func (p *pass) findSums(ctx context.Context, v *view, fields []herb.Field) (record int, isSure bool, err error) {
	var columns []*columnSum
	for i := range fields {
		if fields[i].Type == herb.TypeNumber && v.fields[i].column < len(v.columns) {
			columns = append(columns, &columnSum{field: &fields[i], column: v.fields[i].column, byPlaces: map[int]*big.Int{}})
		}
	}
	var decimal []byte
	last := v.totals.records - 1
	err = p.records(ctx, v, func(n int, _ *storedRow, cells [][]byte) bool {
		for _, c := range columns {
			var status text.Status
			if decimal, status = text.AppendPublished(decimal[:0], c.field, valueAt(cells, c.column)); status != text.Valid {
				continue
			}
			switch n {
			case 0:
				c.first = string(decimal)
			case last:
				c.last = string(decimal)
			}
			c.add(decimal)
		}
		return true
	})
	if err != nil {
		return -1, false, err
	}
	for _, candidate := range []struct {
		record int
		value  func(*columnSum) string
	}{{last, func(c *columnSum) string { return c.last }}, {0, func(c *columnSum) string { return c.first }}} {
		filled, same, isLong := 0, 0, false
		for _, c := range columns {
			if value := candidate.value(c); value != "" {
				filled++
				if c.isDouble(value) {
					same++
					isLong = isLong || c.addends >= sureAddends
				}
			}
		}
		if same > 0 && 2*same >= filled {
			return candidate.record, isLong || same >= sureColumns, nil
		}
	}
	return -1, false, nil
}

// add adds a number in plain decimal notation.
func (c *columnSum) add(decimal []byte) {
	units, places := parseUnits(string(decimal))
	if units.Sign() == 0 {
		return
	}
	c.addends++
	if sum := c.byPlaces[places]; sum != nil {
		sum.Add(sum, units)
	} else {
		c.byPlaces[places] = units
	}
}

// isDouble reports whether the sum of all numbers is twice a number that is not 0: the number is
// then the sum of the others. Few of them are no evidence.
func (c *columnSum) isDouble(decimal string) bool {
	const minAddends = 4 // with the number
	units, places := parseUnits(decimal)
	if units.Sign() == 0 || c.addends < minAddends {
		return false
	}
	most := places
	for p := range c.byPlaces {
		most = max(most, p)
	}
	scaled := func(n *big.Int, places int) *big.Int {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(most-places)), nil)
		return power.Mul(power, n)
	}
	rest := scaled(units.Lsh(units, 1), places)
	for p, sum := range c.byPlaces {
		rest.Sub(rest, scaled(sum, p))
	}
	return rest.Sign() == 0
}

// parseUnits returns a number in plain decimal notation, of at most text.MaxDigits, as an integer
// in units of its last decimal place, and the number of decimal places.
func parseUnits(decimal string) (units *big.Int, places int) {
	whole, fraction, _ := strings.Cut(decimal, ".")
	units, _ = new(big.Int).SetString(whole+fraction, 10)
	if units == nil {
		units = new(big.Int)
	}
	return units, len(fraction)
}

// nameSums returns the finding about a record whose numbers are the sums of all others. It names
// the record by the first column that is not a number and whose value no other record has.
func (p *pass) nameSums(ctx context.Context, v *view, fields []herb.Field, record int) (found herb.TotalRows, err error) {
	values := make([]string, len(fields))
	found = herb.TotalRows{RowValue: herb.RowValue{Rows: 1}, Sums: true}
	err = p.records(ctx, v, func(n int, row *storedRow, cells [][]byte) bool {
		if n != record {
			return true
		}
		found.Where = p.locate(row)
		for i, f := range v.fields {
			values[i] = string(valueAt(cells, f.column))
		}
		return false
	})
	if err != nil {
		return found, err
	}
	isUnique := make([]bool, len(fields))
	for i, f := range fields {
		isUnique[i] = f.Type != herb.TypeNumber && len(values[i]) <= maxTotalValue && !strings.ContainsFunc(values[i], unicode.IsControl)
	}
	err = p.records(ctx, v, func(n int, _ *storedRow, cells [][]byte) bool {
		for i, f := range v.fields {
			isUnique[i] = isUnique[i] && (n == record || string(valueAt(cells, f.column)) != values[i])
		}
		return true
	})
	if i := slices.Index(isUnique, true); i >= 0 {
		found.Column, found.Value = v.columns[v.fields[i].column], values[i]
	}
	return found, err
}

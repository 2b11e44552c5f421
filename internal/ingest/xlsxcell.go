package ingest

import (
	"slices"
	"strconv"
)

// readCell reads a cell and appends its value.
func (x *xlsxReader) readCell() error {
	x.raw = x.raw[:0]
	x.text.reset()
	kind, style := cellKindOf(x.part.attr("t")), xlsxStyle{}
	if i, err := strconv.Atoi(string(x.part.attr("s"))); err == nil && i >= 0 && i < len(x.book.styles) {
		style = x.book.styles[i]
	}
	inValue, inText, formula := false, false, false
	for {
		if err := x.part.token(); err != nil {
			return err
		}
		if x.part.kind == xmlText {
			if inValue {
				x.raw = append(x.raw, x.part.text...)
			}
		} else {
			start := x.part.kind == xmlStart
			switch string(x.part.name) {
			case "v":
				inValue = start
			case "is":
				inText = start
			case "f":
				formula = true
			case "c":
				if formula && len(x.raw) == 0 && kind != cellString {
					x.empty++
				}
				return x.appendCell(kind, style)
			}
		}
		if inText {
			x.text.take(x.part)
		}
	}
}

// cellKind is how the value of a cell is stored.
type cellKind int

const (
	cellNumber cellKind = iota
	cellShared          // the number of a text
	cellInline
	cellString // the result of a formula
	cellBoolean
	cellOther // an error, or a date in plain writing
)

func cellKindOf(t []byte) cellKind {
	switch string(t) {
	case "s":
		return cellShared
	case "inlineStr":
		return cellInline
	case "str":
		return cellString
	case "b":
		return cellBoolean
	case "e", "d":
		return cellOther
	default:
		return cellNumber
	}
}

// appendCell appends the value of the cell that was read.
func (x *xlsxReader) appendCell(kind cellKind, style xlsxStyle) error {
	switch kind {
	case cellInline:
		if x.buf = append(x.buf, x.text.text()...); len(x.text.buf) > 0 {
			return nil
		}
		x.buf = append(x.buf, unescapeXLSX(x.raw)...) // some writers put the text into <v>
		return nil
	case cellString:
		x.buf = append(x.buf, unescapeXLSX(x.raw)...)
		return nil
	}
	switch {
	case len(x.raw) == 0:
		x.buf = append(x.buf, x.text.text()...) // an inline text whose cell does not say that it is one
	case kind == cellShared:
		t, err := x.book.texts.get(x.raw)
		x.buf = append(x.buf, t...)
		return err
	case kind == cellBoolean && string(x.raw) == "1":
		x.buf = append(x.buf, "true"...)
	case kind == cellBoolean && string(x.raw) == "0":
		x.buf = append(x.buf, "false"...)
	case kind == cellNumber:
		x.buf = style.appendNumber(x.buf, x.raw, x.book.date1904)
	default:
		x.buf = append(x.buf, x.raw...)
	}
	return nil
}

// cellName is the name of a cell of the row read last, such as BC17, by its column from 0.
func (x *xlsxReader) cellName(column int) string {
	var letters []byte
	for n := column + 1; n > 0; n = (n - 1) / 26 {
		letters = append(letters, byte('A'+(n-1)%26))
	}
	slices.Reverse(letters)
	return string(letters) + strconv.Itoa(x.line)
}

// columnOf reads the letters of a cell such as BC17, from 0. It is negative if there are none.
func columnOf(cell []byte) int {
	n := 0
	for i := 0; i < len(cell); i++ {
		c := cell[i] &^ 0x20
		if c < 'A' || c > 'Z' {
			break
		}
		if n = n*26 + int(c-'A') + 1; n > 1<<20 {
			return -1
		}
	}
	return n - 1
}

package state

import (
	"slices"
	"strconv"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// The widths of columns that a user may choose, in pixels.
const (
	MinWidth = 48
	maxWidth = 1200
)

// ColumnWidth is the width of a column that a user has chosen.
type ColumnWidth struct{ Field, Pixels int }

// setWidth sets the width of a column from a parameter such as "title:320"; 0 restores the default.
func (s *State) setWidth(value string) {
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return
	}
	field := herb.FieldIndex(s.Fields, value[:at])
	pixels, err := strconv.Atoi(value[at+1:])
	if field < 0 || err != nil || pixels < 0 {
		return
	}
	s.Widths = slices.DeleteFunc(s.Widths, func(w ColumnWidth) bool { return w.Field == field })
	if pixels > 0 && len(s.Widths) < maxColumns {
		s.Widths = append(s.Widths, ColumnWidth{field, min(max(pixels, MinWidth), maxWidth)})
	}
}

// widthParams returns the parameters of the chosen widths.
func (s *State) widthParams() (ps query.Params) {
	for _, w := range s.Widths {
		ps = append(ps, query.Param{Name: ParamWidth, Value: WidthValue(s.Fields[w.Field].Name, w.Pixels)})
	}
	return ps
}

func WidthValue(field string, pixels int) string { return field + ":" + strconv.Itoa(pixels) }

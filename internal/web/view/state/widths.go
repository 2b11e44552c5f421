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
	MaxWidth = 1200
)

// ColumnWidth is the width of a column that a user has chosen.
type ColumnWidth struct{ Field, Pixels int }

// setWidth sets the width of a column from a parameter such as "title:320".
func (s *State) setWidth(value string) {
	at := strings.LastIndexByte(value, ':')
	if at < 0 {
		return
	}
	field := herb.FieldIndex(s.Fields, value[:at])
	pixels, err := strconv.Atoi(value[at+1:])
	if field < 0 || err != nil || pixels <= 0 {
		return
	}
	s.Widths = slices.DeleteFunc(s.Widths, func(w ColumnWidth) bool { return w.Field == field })
	if len(s.Widths) < maxColumns {
		s.Widths = append(s.Widths, ColumnWidth{field, min(max(pixels, MinWidth), MaxWidth)})
	}
}

// widthParams returns the parameters of the chosen widths.
func (s *State) widthParams() (ps query.Params) {
	for _, w := range s.Widths {
		ps = append(ps, query.Param{Name: ParamWidth, Value: s.Fields[w.Field].Name + ":" + strconv.Itoa(w.Pixels)})
	}
	return ps
}

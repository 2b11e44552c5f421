package ingest

import (
	"testing"

	"herbarium/internal/herb"
)

func TestSetNotation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		notation herb.Notation
		want     string
	}{
		{"standard", herb.Notation{Missing: []string{"NA"}}, `{}`},
		{"money", herb.Notation{Decimal: ",", Group: ".", Affix: "€"}, `{"decimalChar":",","groupChar":".","bareNumber":false}`},
		{"dates", herb.Notation{Layout: "%d/%m/%Y"}, `{"format":"%d/%m/%Y"}`},
		{"booleans", herb.Notation{True: []string{"1"}, False: []string{"0"}}, `{"trueValues":["1"],"falseValues":["0"]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := newObject()
			setNotation(o, tt.notation)
			if got := string(appendJSON(nil, o)); got != tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

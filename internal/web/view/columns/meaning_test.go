package columns

import (
	"testing"

	"herbarium/internal/herb"
)

// TestCache checks that the meaning of the columns is decided once per version, and again for what
// is described otherwise.
func TestCache(t *testing.T) {
	t.Parallel()
	var c Cache
	d := herb.Dataset{Ref: herb.Ref{Namespace: "a", Name: "b"}, Version: "v1",
		Fields: []herb.Field{{Name: "year", Type: herb.TypeNumber}}}
	first, copied := c.Read(&d), d
	if again := c.Read(&copied); again.Columns != first.Columns || again.Dataset != &copied {
		t.Error("the same version is read twice")
	}
	hidden := d
	hidden.Fields = []herb.Field{{Name: "name", Type: herb.TypeText}}
	if other := c.Read(&hidden); other.Meanings[0].Kind != KindText {
		t.Errorf("what another visitor sees has the kind %v", other.Meanings[0].Kind)
	}
	next := d
	next.Version = "v2"
	if c.Read(&next).Columns == first.Columns {
		t.Error("the next version has the columns of the one before")
	}
	for i := range 3 {
		wide := herb.Dataset{Version: string(rune('a' + i)), Fields: make([]herb.Field, maxCached/2)}
		c.Read(&wide)
	}
	if c.columns > maxCached || len(c.known) > 2 {
		t.Errorf("the cache has %d columns of %d versions", c.columns, len(c.known))
	}
}

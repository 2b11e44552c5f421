package browse

import (
	"encoding/json"
	"io/fs"
	"strings"

	"herbarium/internal/query"
	"herbarium/internal/web/share"
	"herbarium/internal/web/view/maps"
)

// coasts are the coast for previews, coarse and detailed.
type coasts struct{ coarse, fine share.Land }

// readCoasts reads the coast from the assets. It panics if there is none.
func readCoasts(files fs.FS) coasts {
	read := func(name string, scale float64) share.Land {
		svg, err := fs.ReadFile(files, "assets/"+name)
		if err != nil {
			panic(err)
		}
		_, data, _ := strings.Cut(string(svg), ` d="`)
		data, _, _ = strings.Cut(data, `"`)
		return share.Land{Path: data, Scale: scale}
	}
	return coasts{read("land.svg", 1), read("land50.svg", .5)}
}

// land returns the coast for a part of the world: twice, if it begins at Greenwich.
func (c coasts) land(b query.Bounds) []share.Land {
	land := c.coarse
	if maps.IsFine(b) {
		land = c.fine
	}
	if b.MaxX <= 180 {
		return []share.Land{land}
	}
	east := land
	east.X = 3600
	return []share.Land{land, east}
}

// readPlaces reads the names of places from the asset, which is a script for maps in the browser.
// It panics if it is invalid.
func readPlaces(files fs.FS) (places []maps.Place) {
	script, err := fs.ReadFile(files, "assets/places.js")
	if err != nil {
		panic(err)
	}
	_, list, _ := strings.Cut(string(script), "export const places = ")
	var rows [][4]json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimRight(list, ";\n")), &rows); err != nil {
		panic(err)
	}
	for _, row := range rows {
		var p maps.Place
		for i, part := range []any{&p.Name, &p.X, &p.Y, &p.Scale} {
			if err := json.Unmarshal(row[i], part); err != nil {
				panic(err)
			}
		}
		places = append(places, p)
	}
	return places
}

package web

import (
	"encoding/json"
	"strings"

	"herbarium/internal/web/share"
	"herbarium/internal/web/view"
)

// readLand reads the coast for previews from the asset. It panics if there is none.
func readLand() []share.Land {
	svg, err := files.ReadFile("assets/land.svg")
	if err != nil {
		panic(err)
	}
	_, data, _ := strings.Cut(string(svg), ` d="`)
	data, _, _ = strings.Cut(data, `"`)
	return []share.Land{{Path: data}}
}

// readPlaces reads the names of places from the asset, which is a script for maps in the browser.
// It panics if it is invalid.
func readPlaces() (places []view.Place) {
	script, err := files.ReadFile("assets/places.js")
	if err != nil {
		panic(err)
	}
	_, list, _ := strings.Cut(string(script), "export const places = ")
	var rows [][3]json.RawMessage
	if err := json.Unmarshal([]byte(strings.TrimRight(list, ";\n")), &rows); err != nil {
		panic(err)
	}
	for _, row := range rows {
		var p view.Place
		for i, part := range []any{&p.Name, &p.X, &p.Y} {
			if err := json.Unmarshal(row[i], part); err != nil {
				panic(err)
			}
		}
		places = append(places, p)
	}
	return places
}

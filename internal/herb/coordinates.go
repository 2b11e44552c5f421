package herb

import "slices"

// Coordinates are the fields that say where a record is: a field with latitudes and one with
// longitudes, or one field with both.
type Coordinates struct {
	Latitude  string              `json:"latitude,omitempty"`
	Longitude string              `json:"longitude,omitempty"`
	Field     string              `json:"field,omitempty"`
	Notation  CoordinatesNotation `json:"notation,omitempty"` // of Field
	Declared  bool                `json:"declared,omitempty"` // by the descriptor; otherwise they were recognized
	Records   int                 `json:"located"`            // with a position
	Invalid   int                 `json:"invalid,omitempty"`  // records with values that are no position
}

// CoordinatesNotation is how the values of one field say where a record is.
type CoordinatesNotation string

// Notations of coordinates in one field.
const (
	NotationLatLon  CoordinatesNotation = "lat,lon"
	NotationLonLat  CoordinatesNotation = "lon,lat"
	NotationWKT     CoordinatesNotation = "wkt"     // geometries as well-known text
	NotationGeoJSON CoordinatesNotation = "geojson" // geometries as GeoJSON
)

// CoordinatesNotations returns all notations.
func CoordinatesNotations() []CoordinatesNotation {
	return []CoordinatesNotation{NotationLatLon, NotationLonLat, NotationWKT, NotationGeoJSON}
}

// Name returns the name of the coordinates: that of the field with latitudes, or of the only field.
func (c Coordinates) Name() string {
	if c.Field != "" {
		return c.Field
	}
	return c.Latitude
}

// Names returns the names of the fields.
func (c Coordinates) Names() []string {
	if c.Field != "" {
		return []string{c.Field}
	}
	return []string{c.Latitude, c.Longitude}
}

// HasCoordinates reports whether some fields say where the records are.
func (d *Dataset) HasCoordinates() bool {
	return len(d.Coordinates) > 0 || d.Report != nil && len(d.Report.Coordinates) > 0
}

// HasGeometries reports whether values may be lines and areas, not only points.
func (c Coordinates) HasGeometries() bool {
	return c.Notation == NotationWKT || c.Notation == NotationGeoJSON
}

// CoordinatesIndex returns the position of the coordinates with the given name, or -1. An empty
// name is that of the first ones.
func CoordinatesIndex(all []Coordinates, name string) int {
	if name == "" && len(all) > 0 {
		return 0
	}
	return slices.IndexFunc(all, func(c Coordinates) bool { return c.Name() == name })
}

package export_test

import (
	"slices"
	"testing"

	"herbarium/internal/export"
	"herbarium/internal/herb"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	ref, coordinates := herb.Ref{Namespace: "geo", Name: "places"},
		[]herb.Coordinates{{Latitude: "lat", Longitude: "lon"}}
	tests := []struct {
		name    string
		dataset herb.Dataset
		want    []string
	}{
		{"of a table", herb.Dataset{Ref: ref, Access: herb.AccessOpen}, []string{"data.csv", "data.parquet"}},
		{"with coordinates", herb.Dataset{Ref: ref, Access: herb.AccessOpen, Coordinates: coordinates},
			[]string{"data.csv", "data.parquet", "data.geojson"}},
		{"that require a key, which hides that there are coordinates",
			herb.Dataset{Ref: ref, Coordinates: coordinates, Access: herb.AccessKey},
			[]string{"data.csv", "data.parquet"}},
		{"of plants, which change with every write", herb.Dataset{Ref: herb.PlantsRef, Access: herb.AccessOpen},
			[]string{"data.csv"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range export.Files(&tt.dataset) {
				got = append(got, f.Name)
				if f.Label == "" || f.MediaType == "" {
					t.Errorf("%s has no format", f.Name)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

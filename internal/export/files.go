package export

import (
	"herbarium/internal/export/parquet"
	"herbarium/internal/herb"
)

// File is a file with all records of a dataset.
type File struct {
	Name      string // the end of its address, after that of the dataset: data.csv
	Label     string // of the format
	MediaType string
}

// Files returns the files that documents about a dataset name for programs: catalogues of portals,
// metadata of search engines, tools. They name those that everybody can fetch, or of a dataset that
// requires a key those that every dataset has, because coordinates are found in values. The menu of
// a page offers the same in all Formats, with its filters.
func Files(d *herb.Dataset) []File {
	files := []File{{"data." + string(CSV), CSV.Label(), CSV.MediaType()}}
	if d.Ref != herb.PlantsRef { // it changes with every write
		files = append(files, File{"data.parquet", "Parquet", parquet.MediaType})
	}
	if d.HasCoordinates() && !d.Access.NeedsKey() {
		files = append(files, File{"data." + string(GeoJSON), GeoJSON.Label(), GeoJSON.MediaType()})
	}
	return files
}

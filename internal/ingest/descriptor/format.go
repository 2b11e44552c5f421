package descriptor

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// format returns the format of a resource: by its member "format", its media type or its extension,
// in this order.
func (p *packageReader) format(s *Source, n node, path string) string {
	var declared, media, compression string
	n.assignAll([]binding{{"format", &declared}, {"mediatype", &media}, {"compression", &compression}})
	checkCompression(n, compression, path)
	known := strings.Join(FormatNames(p.formats), ", ")
	candidates := []string{declared, media, strings.TrimPrefix(filepath.Ext(file.Uncompressed(path)), ".")}
	for _, inner := range append([]string{s.Entry}, s.Tables...) {
		inner, _, _ = strings.Cut(inner, "#")
		candidates = append(candidates, strings.TrimPrefix(filepath.Ext(inner), "."))
	}
	tabular := n.member("type").value == "table" || n.member("profile").value == "tabular-data-resource" ||
		n.member("schema").value != nil
	if formatName(declared) == "topojson" { // the extension is that of JSON, but shapes refer to each other
		candidates, tabular = nil, false
	}
	for i, name := range candidates {
		f, ok := file.ByName(p.formats, formatName(name))
		if !ok {
			continue
		}
		if i > 0 && declared != "" {
			s.Notes = append(s.Notes, n.member("format").errorf("is %q, an unknown format; the file is read as %s",
				rows.Clip(declared), f.Name).Error())
		}
		return f.Name
	}
	switch {
	case !tabular:
		n.record(&skipError{n.errorf("(%s) is not published: neither its format nor its extension is that of a table; "+
			"if it is one, set \"format\" to one of %s", rows.Clip(path), known)})
	case declared != "":
		n.member("format").fail("is %q; valid formats: %s", rows.Clip(declared), known)
	}
	return p.formats[0].Name
}

func checkCompression(n node, written, path string) {
	const remedy = "unpack it next to the descriptor and name the unpacked file, or compress that with gzip or zstd"
	if !slices.Contains([]string{"", "no", "none", "gz", "gzip", "zst", "zstd", "bz2", "bzip2", "xz", "zip"},
		strings.ToLower(written)) {
		n.member("compression").fail("is %q, which cannot be read; %s", rows.Clip(written), remedy)
	}
	switch strings.ToLower(filepath.Ext(file.Uncompressed(path))) {
	case ".7z", ".rar", ".tar", ".tgz":
		n.record(&skipError{n.member("path").errorf("is %q, an archive; %s", rows.Clip(path), remedy)})
	}
}

// formatName maps a name of a format in a descriptor, or a media type, to a name or an extension of
// a format.
func formatName(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	s = file.Uncompressed(strings.TrimPrefix(strings.TrimSpace(s), "."))
	names := map[string]string{
		"text/csv": "csv", "application/csv": "csv", "text/comma-separated-values": "csv", "text/x-csv": "csv",
		"text/tab-separated-values": "tsv", "text/tsv": "tsv", "tab": "tsv",
		"geojson": "json", "application/json": "json", "text/json": "json", "application/geo+json": "json",
		"application/vnd.geo+json": "json",
		"json lines":               "ndjson", "jsonlines": "ndjson", "ldjson": "ndjson", "geojsonl": "ndjson",
		"application/x-ndjson": "ndjson",
		"application/ndjson":   "ndjson", "application/jsonl": "ndjson", "application/x-jsonlines": "ndjson",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
		"application/vnd.apache.parquet":                                    "parquet",
		"application/x-parquet":                                             "parquet",
		"application/vnd.sqlite3":                                           "sqlite",
		"application/x-sqlite3":                                             "sqlite",
	}
	return cmp.Or(names[s], s)
}

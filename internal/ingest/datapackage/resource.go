package datapackage

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// readLocation reads where the records of a resource are, their format and encoding.
func (p *descriptor) readLocation(s *source.Source, n node) {
	if data := n.member("data"); data.value != nil && n.member("path").value == nil {
		p.readInline(s, n, data)
		return
	}
	path := n.member("path")
	if path.value == nil { // its name in early editions
		path = n.member("url")
	}
	written := path.texts()
	if len(written) == 0 || written[0] == "" {
		n.fail("has no path; set it to the file, relative to the descriptor%s", n.misspelled("path"))
		return
	}
	for _, item := range path.items() {
		p.localPath(item)
	}
	s.Format = p.format(s, n, written[0])
	n.member("encoding").assign(&s.Dialect.Encoding)
	seen := map[string]bool{}
	for _, item := range path.items() {
		full := p.findFile(item)
		if seen[full] && full != "" {
			item.fail("names a part again; list each part once")
		}
		seen[full] = true
		if s.Path == "" {
			s.Path = full
		} else {
			s.Parts = append(s.Parts, full)
		}
	}
}

// readInline reads records in the descriptor: a list or an object as JSON, or a text in the format of the resource.
func (p *descriptor) readInline(s *source.Source, n, data node) {
	s.Path, s.Format = p.path, "json"
	switch data.value.(type) {
	case string:
		s.Format = p.format(s, n, "")
	case []any, object:
	default:
		data.fail("must be a list of records; write an object for each")
	}
	var err error
	s.Inline, err = marshal(data.value)
	data.record(err)
}

// localPath returns the path of a file that is written relative to the descriptor and does not lead out of its folder.
func (p *descriptor) localPath(n node) string {
	written, _ := n.scalar()
	u, urlErr := url.Parse(written)
	switch {
	case written == "":
		n.fail("is empty; name a file, relative to the descriptor")
	case urlErr == nil && u.Scheme != "" && strings.Contains(written, "://"):
		n.fail("is %.500q, a URL; download the file to the folder of the descriptor and name it", written)
	case strings.HasPrefix(written, "/") || filepath.IsAbs(written):
		n.fail("is %q, an absolute path; write it relative to the descriptor", rows.Clip(written))
	case !filepath.IsLocal(filepath.FromSlash(written)):
		n.fail("is %q, which leads out of the folder of the descriptor; move the file into it", rows.Clip(written))
	}
	return filepath.FromSlash(written)
}

// findFile returns the path of a file in the folder of the descriptor or, if it is not there, in the folder data in it.
func (p *descriptor) findFile(n node) string {
	local := p.localPath(n)
	if p.err != nil {
		return ""
	}
	full := filepath.Join(p.folder, local)
	info, err := p.dir.Stat(full)
	if herb.CodeOf(err) == herb.CodeNotFound {
		below := filepath.Join(p.folder, "data", local)
		if inData, dataErr := p.dir.Stat(below); dataErr == nil {
			full, info, err = below, inData, nil
		}
	}
	if _, err := p.dir.Stat(filepath.Dir(full)); err == nil {
		p.Folders = append(p.Folders, filepath.Dir(full))
	}
	switch {
	case errors.Is(err, file.ErrEscapes):
		n.fail("is %q, a link that leads out of the folder of the descriptor; put the file itself there", rows.Clip(local))
	case err != nil:
		n.record(err)
	case !info.Mode().IsRegular():
		n.fail("is %q, which is not a regular file", rows.Clip(local))
	}
	return full
}

// format returns the format of a resource: that of its member "format", of its media type or of its extension, in this
// order.
func (p *descriptor) format(s *source.Source, n node, path string) string {
	var declared, media, compression string
	bind(n.member, []binding{{"format", &declared}, {"mediatype", &media}, {"compression", &compression}})
	checkCompression(n, compression, path)
	known := strings.Join(source.FormatNames(p.formats), ", ")
	candidates := []string{declared, media, strings.TrimPrefix(filepath.Ext(file.Uncompressed(path)), ".")}
	tabular := n.member("type").value == "table" || n.member("profile").value == "tabular-data-resource" || n.member("schema").value != nil
	if formatName(declared) == "topojson" { // the extension is that of JSON, but shapes refer to each other
		candidates, tabular = nil, false
	}
	for i, name := range candidates {
		f, ok := file.ByName(p.formats, formatName(name))
		if !ok {
			continue
		}
		if i > 0 && declared != "" {
			s.Notes = append(s.Notes, n.member("format").errorf("is %q, an unknown format; the file is read as %s", rows.Clip(declared), f.Name).Error())
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

// checkCompression rejects compressions and archives that cannot be read.
func checkCompression(n node, written, path string) {
	const remedy = "unpack it next to the descriptor and name the unpacked file, or compress that with gzip or zstd"
	if !slices.Contains([]string{"", "no", "none", "gz", "gzip", "zst", "zstd", "bz2", "bzip2", "xz", "zip"}, strings.ToLower(written)) {
		n.member("compression").fail("is %q, which cannot be read; %s", rows.Clip(written), remedy)
	}
	switch strings.ToLower(filepath.Ext(file.Uncompressed(path))) {
	case ".7z", ".rar", ".tar", ".tgz":
		n.record(&skipError{n.member("path").errorf("is %q, an archive; %s", rows.Clip(path), remedy)})
	}
}

// formatName maps a name of a format in a descriptor, or a media type, to a name or an extension of a format.
func formatName(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	s = file.Uncompressed(strings.TrimPrefix(strings.TrimSpace(s), "."))
	names := map[string]string{
		"text/csv": "csv", "application/csv": "csv", "text/comma-separated-values": "csv", "text/x-csv": "csv",
		"text/tab-separated-values": "tsv", "text/tsv": "tsv", "tab": "tsv",
		"geojson": "json", "application/json": "json", "text/json": "json", "application/geo+json": "json", "application/vnd.geo+json": "json",
		"json lines": "ndjson", "jsonlines": "ndjson", "ldjson": "ndjson", "geojsonl": "ndjson", "application/x-ndjson": "ndjson",
		"application/ndjson": "ndjson", "application/jsonl": "ndjson", "application/x-jsonlines": "ndjson",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
		"application/vnd.apache.parquet":                                    "parquet", "application/x-parquet": "parquet",
		"application/vnd.sqlite3": "sqlite", "application/x-sqlite3": "sqlite",
	}
	return cmp.Or(names[s], s)
}

package ingest

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/file"
	"herbarium/internal/ingest/rows"
)

// records finds where the records of a resource are and how they are written.
func (p *packageReader) records(s *Source, n node) (err error) {
	if data := n.member("data"); data.value != nil && n.member("path").value == nil {
		return p.inline(s, n, data)
	}
	path := n.member("path")
	if path.value == nil { // before there was a path
		path = n.member("url")
	}
	written, err := path.texts()
	switch {
	case err != nil:
		return err
	case len(written) == 0 || written[0] == "":
		return n.wrong("has no path; name its file, relative to the descriptor")
	}
	for _, item := range path.items() {
		if _, err := p.inside(item); err != nil {
			return err
		}
	}
	if s.Format, err = p.format(s, n, written[0]); err != nil {
		return err
	}
	if s.Encoding, err = encodingOf(n); err != nil {
		return err
	}
	for _, item := range path.items() {
		full, err := p.file(item)
		if err != nil {
			return err
		}
		if s.Path == "" {
			s.Path = full
		} else {
			s.Parts = append(s.Parts, full)
		}
	}
	return nil
}

// inline takes the records from the descriptor itself: a list or an object as JSON, a text in the format that is given.
func (p *packageReader) inline(s *Source, n, data node) error {
	s.Path, s.Format = p.path, FormatJSON
	switch data.value.(type) {
	case string:
		var err error
		if s.Format, err = p.format(s, n, ""); err != nil {
			return err
		}
	case []any, *object:
	default:
		return data.wrong("must be a list of records; write an object for each")
	}
	s.Inline = appendJSON(nil, data.value)
	return nil
}

// inside returns a path that is written relative to the descriptor and leads to nowhere but its folder.
func (p *packageReader) inside(path node) (string, error) {
	written, _ := path.scalar()
	u, urlErr := url.Parse(written)
	switch {
	case written == "":
		return "", path.wrong("is empty; name a file, relative to the descriptor")
	case urlErr == nil && u.Scheme != "" && strings.Contains(written, "://"):
		return "", path.wrong("is %q, an address; download the file into the folder of the descriptor and name it", whole(written))
	case strings.HasPrefix(written, "/") || filepath.IsAbs(written):
		return "", path.wrong("is %q, an absolute path; write it relative to the descriptor", rows.Clip(written))
	case !filepath.IsLocal(filepath.FromSlash(written)):
		return "", path.wrong("is %q, which leads out of the folder of the descriptor; move the file into it", rows.Clip(written))
	}
	return filepath.Join(p.folder, filepath.FromSlash(written)), nil
}

// file returns the path of a file, which must lie in the folder of the descriptor or, if it is not there, in the folder
// data in it. A link may lead anywhere in the folder of the descriptor, not out of it.
func (p *packageReader) file(path node) (string, error) {
	full, err := p.inside(path)
	if err != nil {
		return "", err
	}
	written, _ := path.scalar()
	info, err := p.from.Stat(full)
	if herb.CodeOf(err) == herb.CodeNotFound { // some keep the descriptor one folder above what it describes
		below := filepath.Join(p.folder, "data", filepath.FromSlash(written))
		if found, belowErr := p.from.Stat(below); belowErr == nil {
			full, info, err = below, found, nil
		}
	}
	switch {
	case errors.Is(err, file.ErrEscapes):
		return "", path.wrong("is %q, a link that leads out of the folder of the descriptor; put the file itself there", rows.Clip(written))
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", path.wrong("is %q, which is not a regular file", rows.Clip(written))
	}
	return full, nil
}

// format tells how the file of a resource is written: by its format, its media type, its extension. In that order,
// because whoever wrote one down had a reason to; one that is not known gives way to the next.
func (p *packageReader) format(s *Source, n node, path string) (Format, error) {
	declared, err := n.text("format")
	if err != nil {
		return "", err
	}
	media, err := n.text("mediatype")
	if err != nil {
		return "", err
	}
	if err := unpackable(n, path); err != nil {
		return "", err
	}
	notTable := &Skipped{n.wrong("(%s) is not published: neither its format nor its extension tells a table; "+
		"if it is one, give \"format\", one of %s", rows.Clip(path), knownFormats())}
	if formatName(declared) == "topojson" { // JSON by its extension, and shapes that refer to each other inside
		return "", notTable
	}
	ext := strings.TrimPrefix(filepath.Ext(file.Uncompressed(path)), ".")
	for i, name := range []string{declared, media, ext} {
		f, err := ParseFormat(formatName(name))
		if err != nil {
			continue
		}
		if i > 0 && declared != "" {
			s.Notes = append(s.Notes, n.member("format").wrong("is %q, which is not known; it is read as %s", rows.Clip(declared), f).Error())
		}
		return f, nil
	}
	switch tabular := isTabular(n); {
	case tabular && declared == "":
		return FormatCSV, nil
	case tabular:
		return "", n.member("format").wrong("is %q; choose from %s", rows.Clip(declared), knownFormats())
	default:
		return "", notTable
	}
}

// isTabular reports whether a resource says that it is a table.
func isTabular(n node) bool {
	return n.member("type").value == "table" || n.member("profile").value == "tabular-data-resource" || n.member("schema").value != nil
}

// whole shows an address in a message so that it can be copied.
func whole(address string) string {
	const most = 500
	if len(address) > most {
		return rows.Clip(address)
	}
	return address
}

// unpackable refuses what cannot be unpacked while it is read.
func unpackable(n node, path string) error {
	written, err := n.text("compression")
	if err != nil {
		return err
	}
	const right = "unpack it beside the descriptor and name the file that was in it, or compress that with gzip or zstd"
	switch strings.ToLower(written) {
	case "", "no", "none", "gz", "gzip", "zst", "zstd":
	default:
		return n.member("compression").wrong("is %q, which cannot be read; %s", rows.Clip(written), right)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".zip", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz":
		err := n.member("path").wrong("is %q, an archive; %s", rows.Clip(path), right)
		declared, _ := n.text("format")
		_, unknown := ParseFormat(formatName(declared))
		if _, inside := formatOf(strings.TrimSuffix(path, filepath.Ext(path))); !inside && unknown != nil && !isTabular(n) {
			return &Skipped{err} // it may hold anything
		}
		return err
	}
	return nil
}

// formatName turns the ways in which descriptors name formats into ours.
func formatName(s string) string {
	s, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(s)), ";")
	s = strings.TrimPrefix(strings.TrimSpace(s), ".")
	switch s = file.Uncompressed(s); s {
	case "text/csv", "application/csv", "text/comma-separated-values", "text/x-csv":
		return "csv"
	case "text/tab-separated-values", "text/tsv", "tab":
		return "tsv"
	case "geojson", "application/json", "text/json", "application/geo+json", "application/vnd.geo+json":
		return "json"
	case "json lines", "jsonlines", "ldjson", "geojsonl", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines":
		return "ndjson"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return "xlsx"
	case "application/vnd.apache.parquet", "application/x-parquet":
		return "parquet"
	case "application/vnd.sqlite3", "application/x-sqlite3", "sqlite3":
		return "sqlite"
	}
	return s
}

// encodingOf reads the encoding of a resource; programs have names of their own for some.
func encodingOf(n node) (string, error) {
	written, err := n.text("encoding")
	switch s := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(written)), "_", "-"); s {
	case "utf-8-sig", "utf8-sig", "utf8":
		return "utf-8", err
	case "latin-1":
		return "iso-8859-1", err
	case "cp-1252":
		return "windows-1252", err
	default:
		return s, err
	}
}

// accessOf reads who may list a dataset; an empty string says nothing.
func accessOf(own node) (string, error) {
	s, err := own.text("access")
	if err != nil || s == "" {
		return "", err
	}
	if _, err := herb.ParseAccess(s); err != nil {
		return "", own.member("access").wrong("is %q; choose open or key", rows.Clip(s))
	}
	return s, nil
}

package publish

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/datapackage"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
	"herbarium/internal/versions"
)

// keptNote tells a publisher why the settings of a version apply to a file.
const keptNote = "no descriptor came with the file, so the settings of the live version were kept; publish the file with a descriptor to change them"

// CheckSettings fails with herb.CodeRejected if a file without a descriptor must not replace a
// version, because its settings, by which it may hide something, are not known.
func CheckSettings(live herb.Dataset) error {
	if live.Settings == nil && live.Descriptor != nil {
		return herb.Errorf(herb.CodeRejected, "the settings of the live version of %s are not known; publish the file with its descriptor", live.Ref)
	}
	return nil
}

// keepSettings returns a source without a descriptor with the settings of the live version, so that
// what is hidden stays hidden. Options by which the publisher overrides how files are read take
// precedence.
func keepSettings(s ingest.Source, live herb.Dataset) (ingest.Source, error) {
	if live.Version == "" || s.IsSettled || s.Settings.Descriptor != nil {
		return s, nil
	}
	if err := CheckSettings(live); err != nil {
		return s, err
	}
	settings, notes, err := Inherit(live, "")
	if err != nil {
		return s, err
	}
	settings.Reading = overrideReading(settings.Reading, s.Settings.Reading)
	kept, err := Apply(s, settings, "--")
	if err != nil {
		return s, err
	}
	kept = Describe(kept, s, settings, live)
	kept.Notes = slices.Concat(kept.Notes, notes)
	return kept, nil
}

// Describe completes a source to which the settings of the live version were applied: its title,
// its description, its access, which the publisher may have stated, and the columns that stay
// hidden.
func Describe(s, stated ingest.Source, settings herb.Settings, live herb.Dataset) ingest.Source {
	if settings.Descriptor == nil {
		s.Title, s.Description = live.Title, live.Description
	}
	if hidden, ok := versions.HiddenColumns(live); ok {
		s.Inherited = &source.Inherited{Hidden: hidden}
	}
	s.Access, s.AccessSet = live.Access, s.AccessSet || stated.AccessSet // an option may have changed what the descriptor states
	if stated.AccessSet {
		s.Access = stated.Access
	}
	return s
}

// overrideReading returns options with those that are given instead of them.
func overrideReading(r, given herb.Reading) herb.Reading {
	if given.Widths != "" || given.Delimiter != "" { // they exclude each other
		r.Widths, r.Delimiter = "", ""
	}
	return herb.Reading{
		Format: cmp.Or(given.Format, r.Format), Table: cmp.Or(given.Table, r.Table), Delimiter: cmp.Or(given.Delimiter, r.Delimiter),
		Encoding: cmp.Or(given.Encoding, r.Encoding), Header: cmp.Or(given.Header, r.Header), Comment: cmp.Or(given.Comment, r.Comment),
		Skip: cmp.Or(given.Skip, r.Skip), Widths: cmp.Or(given.Widths, r.Widths),
	}
}

// Apply returns a source, which was searched for tables, with settings. prefix begins the names of
// options in messages.
func Apply(src ingest.Source, settings herb.Settings, prefix string) (ingest.Source, error) {
	formats := ingest.Formats()
	format, dialect, err := source.ParseReading(formats, settings.Reading, prefix)
	switch {
	case err != nil:
		return src, err
	case settings.Descriptor == nil && settings.Reading == src.Settings.Reading:
		return src, nil
	case settings.Descriptor == nil:
		src.Format, dialect.Table, dialect.TableNo = cmp.Or(format, src.Format), src.Dialect.Table, src.Dialect.TableNo
		if src.Dialect = dialect; src.InnerPath() == "" && !strings.Contains(settings.Reading.Table, "#") {
			src.Dialect.Table = settings.Reading.Table
		}
		src.Settings.Reading = settings.Reading
		return src, nil
	}
	entry := src.Entry
	if src, err = datapackage.Apply(settings.Descriptor, src, formats); err != nil {
		return src, err
	}
	src.Entry = cmp.Or(entry, src.Entry)
	src.Settings.Reading = settings.Reading
	return overrideDialect(src, format, dialect, settings.Reading), nil
}

// overrideDialect replaces what a descriptor says about how the file is written.
func overrideDialect(src ingest.Source, format string, o rows.Options, r herb.Reading) ingest.Source {
	d := &src.Dialect
	src.Format = cmp.Or(format, src.Format)
	d.Delimiter, d.Encoding = cmp.Or(o.Delimiter, d.Delimiter), cmp.Or(o.Encoding, d.Encoding)
	d.Comment = cmp.Or(o.Comment, d.Comment)
	switch { // a delimiter and widths exclude each other
	case len(o.Widths) > 0:
		d.Widths, d.Delimiter = slices.Clone(o.Widths), 0
	case o.Delimiter != 0:
		d.Widths = nil
	}
	if entry, table, _ := strings.Cut(r.Table, "#"); src.Entry != "" && entry != "" { // of an archive
		src.Entry, d.Table = entry, table
	} else {
		d.Table = cmp.Or(r.Table, d.Table)
	}
	d.Skip = cmp.Or(o.Skip, d.Skip)
	if r.Header != "" {
		d.Header, d.HeaderRows = o.Header, slices.Clone(o.HeaderRows)
	}
	return src
}

// Inherit returns the settings of the live version of a dataset as they apply to another file, with
// notes for the publisher. sha256 identifies the file; empty if it is not known.
//
// A descriptor that lists rows that are not records numbers those of one file: in the next edition,
// the same numbers may be records, which must not disappear. So neither this list nor the header
// above it applies to another file, whose layout is detected.
func Inherit(live herb.Dataset, sha256 string) (s herb.Settings, notes []string, err error) {
	if live.Settings == nil {
		return s, nil, nil
	}
	s = *live.Settings
	if s.Descriptor == nil || s.Kept != nil && s.Kept.SHA256 == sha256 {
		return s, nil, nil
	}
	notes = []string{keptNote}
	d, err := datapackage.ParseDocument(s.Descriptor)
	if err != nil {
		return s, nil, err
	}
	dialect, _ := d.Resource["dialect"].(map[string]any)
	if _, listed := dialect["commentRows"]; !listed {
		return s, notes, nil
	}
	delete(dialect, "commentRows")
	delete(dialect, "headerRows")
	if s.Descriptor, err = json.Marshal(d.Root); err != nil {
		return s, nil, err
	}
	return s, append(notes, "the descriptor of the live version lists rows that are not records, which are those of its file; "+
		"the layout of this file is detected"), nil
}

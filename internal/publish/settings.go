package publish

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/versions"
)

// keptNote tells a publisher why the settings of a version apply to a file.
const keptNote = "no descriptor came with the file, so the settings of the live version were kept; publish the file " +
	"with a descriptor to change them"

// CheckSettings fails with herb.CodeRejected if a file without a descriptor must not replace a
// version, because its settings, by which it may hide something, are not known.
func CheckSettings(live herb.Dataset) error {
	if live.Settings == nil && live.Descriptor != nil {
		return herb.Errorf(herb.CodeRejected,
			"the settings of the live version of %s are not known; publish the file with its descriptor", live.Ref)
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
	settings.Reading = settings.Reading.Merge(s.Settings.Reading)
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
		s.Inherited = &descriptor.Inherited{Hidden: hidden}
	}
	// an option may have changed what the descriptor states
	s.Access, s.AccessSet = live.Access, s.AccessSet || stated.AccessSet
	if stated.AccessSet {
		s.Access = stated.Access
	}
	return s
}

// Apply returns a source, which was searched for tables, with settings. prefix begins the names of
// options in messages.
func Apply(src ingest.Source, settings herb.Settings, prefix string) (ingest.Source, error) {
	formats := ingest.Formats()
	reading, err := descriptor.ParseReading(formats, settings.Reading, prefix)
	if err != nil {
		return src, err
	}
	table := settings.Reading.Table
	if settings.Descriptor == nil {
		if src.InnerPath() == "" && !strings.Contains(table, "#") {
			src.Dialect.Table = table
		}
		return reading.Override(src), nil
	}
	entry := src.Entry
	src, err = descriptor.Apply(settings.Descriptor, src, formats)
	if err != nil {
		return src, err
	}
	if entry+table != "" { // the publisher has chosen one
		src.Tables = nil
	}
	src.Entry = cmp.Or(entry, src.Entry)
	if file, inner, _ := strings.Cut(table, "#"); src.Entry != "" && file != "" { // of an archive
		src.Entry, table = file, inner
	}
	src.Dialect.Table = cmp.Or(table, src.Dialect.Table)
	return reading.Override(src), nil
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
	d, err := descriptor.ParseDocument(s.Descriptor)
	if err != nil {
		return s, nil, err
	}
	dialect, err := d.Dialect()
	if err != nil || len(dialect.CommentRows) == 0 {
		return s, notes, err
	}
	dialect.CommentRows, dialect.HeaderRows = nil, nil
	if err := d.SetDialect(dialect); err != nil {
		return s, nil, err
	}
	s.Descriptor, err = json.Marshal(d.Root)
	if err != nil {
		return s, nil, err
	}
	return s, append(notes, "the descriptor of the live version lists rows that are not records, which are those of "+
		"its file; "+
		"the layout of this file is detected"), nil
}

package upload

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/datapackage"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/source"
)

// ReadingNames returns the names of the members of Request.Reading.
func ReadingNames() []string {
	return []string{"format", "table", "delimiter", "encoding", "header", "comment", "skip"}
}

// override returns a reading with some of its members replaced.
func override(r herb.Reading, given map[string]string) herb.Reading {
	members := map[string]*string{
		"format": &r.Format, "table": &r.Table, "delimiter": &r.Delimiter, "encoding": &r.Encoding,
		"header": &r.Header, "comment": &r.Comment, "skip": &r.Skip,
	}
	for name, value := range given {
		*members[name] = value
	}
	return r
}

// parameterPrefix begins the names of parameters.
const parameterPrefix = "_"

// CheckReading fails with herb.CodeInvalid if a member of Request.Reading has no valid value.
func CheckReading(given map[string]string) error {
	_, _, err := source.ParseReading(ingest.Formats(), override(herb.Reading{}, given), parameterPrefix)
	return err
}

// source returns the source of a request: the file, with its settings or those of the live version.
func (s *Service) source(ctx context.Context, r *Request, live herb.Dataset) (ingest.Source, error) {
	src := ingest.Source{Ref: r.Ref, Input: r.File.Content(), DisplayName: cmp.Or(r.File.Name, "file")}
	src.Path = src.DisplayName
	if err := source.CheckReserved(src.Path, r.Ref); err != nil {
		return src, err
	}
	settings, inherited, note := herb.Settings{Descriptor: r.Descriptor}, false, ""
	if r.Descriptor == nil && live.Version != "" {
		if live.Settings == nil && live.Descriptor != nil {
			return src, herb.Errorf(herb.CodeRejected, "the settings of the live version of %s are not known; send its descriptor with the file", r.Ref)
		}
		var err error
		inherited = true
		if settings, note, err = Inherit(live, r.File.SHA256); err != nil {
			return src, err
		}
	}
	settings.Reading = override(settings.Reading, r.Reading)
	reading := settings.Reading
	if r.File.Merged {
		settings.Reading = mergedReading()
	}
	src, err := s.apply(ctx, src, settings)
	if err != nil {
		return src, err
	}
	if r.File.Merged {
		src = ofFields(src)
		src.Settings.Reading = reading // of the next file
	}
	if note != "" && !r.File.Merged {
		src.Notes = append(slices.Clip(src.Notes), note)
	}
	if inherited {
		if settings.Descriptor == nil {
			src.Title, src.Description = live.Title, live.Description
		}
		src.Access = live.Access // a parameter may have changed what the descriptor states
	}
	if r.Access != "" {
		src.Access, src.AccessSet = r.Access, true
	}
	return src, nil
}

// apply returns a source with settings.
func (s *Service) apply(ctx context.Context, src ingest.Source, settings herb.Settings) (ingest.Source, error) {
	formats := ingest.Formats()
	format, dialect, err := source.ParseReading(formats, settings.Reading, parameterPrefix)
	if err != nil {
		return src, err
	}
	if settings.Descriptor == nil {
		return discover.New(discover.Options{
			Formats: formats, Format: format, Dialect: dialect, Reading: settings.Reading, TableParameter: parameterPrefix + "table",
		}).
			AsInput(ctx, src, settings.Reading.Table)
	}
	if src, err = datapackage.Apply(settings.Descriptor, src, formats); err != nil {
		return src, err
	}
	src.Settings.Reading = settings.Reading
	return overrideDialect(src, format, dialect, settings.Reading), nil
}

// overrideDialect replaces what a descriptor says about how the file is written.
func overrideDialect(src ingest.Source, format string, o rows.Options, r herb.Reading) ingest.Source {
	d := &src.Dialect
	src.Format = cmp.Or(format, src.Format)
	d.Delimiter, d.Encoding = cmp.Or(o.Delimiter, d.Delimiter), cmp.Or(o.Encoding, d.Encoding)
	d.Comment = cmp.Or(o.Comment, d.Comment)
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

// mergedReading is how a file that was made from records is read.
func mergedReading() herb.Reading {
	return herb.Reading{Format: "csv", Delimiter: ",", Encoding: "utf-8", Header: "1"}
}

// ofFields returns a source whose columns are the fields: names and conditions were applied when
// the records were made.
func ofFields(src ingest.Source) ingest.Source {
	src.Fields, src.Include, src.ByPosition, src.Entry = slices.Clone(src.Fields), nil, false, ""
	for i := range src.Fields {
		src.Fields[i].From = ""
	}
	src.Dialect = rows.Options{Delimiter: ',', Encoding: "utf-8", HeaderRows: []int{1}}
	return src
}

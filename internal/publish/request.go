package publish

import (
	"cmp"
	"context"
	"io"
	"slices"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/publish/receive"
	"herbarium/internal/versions"
)

// Restore returns the source that is kept with the live version of a dataset as a file that can be
// published again. The error has herb.CodeRejected if none is kept.
func (q *Queue) Restore(ctx context.Context, ref herb.Ref) (*receive.File, error) {
	r, d, err := q.opts.Versions.OpenSource(ctx, ref, "")
	if herb.CodeOf(err) == herb.CodeNotFound && d.Version != "" {
		return nil, herb.Errorf(herb.CodeRejected, "the source of %s is not kept; send the file with PUT …/source", ref)
	}
	if err != nil {
		return nil, err
	}
	kept := d.Settings.Kept
	f := receive.Stored(kept.Name, kept.Size, kept.SHA256,
		func(context.Context) (io.ReadCloser, error) { return r, nil })
	f.Merged = kept.Merged
	if err := q.opts.Files.Fetch(ctx, f); err != nil {
		return nil, err
	}
	return f, nil
}

// Request is a file to be published.
type Request struct {
	Ref        herb.Ref
	File       *receive.File // Start takes it over
	Mode       Mode
	Descriptor []byte       // in JSON or YAML; nil: that of the live version
	Reading    herb.Reading // replaces that of the live version, member by member
	Access     herb.Access  // empty: that of the descriptor or the live version
	Required   bool         // the client stated Expected, which otherwise is what was live when the request arrived
	Actor      herb.Actor   // for the audit log
	// Fetched marks a file that the server has fetched: nobody has looked at it. A file that was
	// rolled back is not published again, and one of another format is rejected.
	Fetched bool
	// Ended is called when the publish has ended, before State returns that. nil: nothing is
	// called.
	Ended func(Publish)
	versions.PublishOptions
}

// parameterPrefix begins the names of parameters.
const parameterPrefix = "_"

// CheckReading fails with herb.CodeInvalid if a member of Request.Reading has no valid value.
func CheckReading(given herb.Reading) error {
	_, err := descriptor.ParseReading(ingest.Formats(), given, parameterPrefix)
	return err
}

// source returns the source of a request: the file, with its settings or those of the live version.
func (q *Queue) source(ctx context.Context, r *Request, live herb.Dataset) (ingest.Source, error) {
	src := ingest.Source{Ref: r.Ref, Input: r.File.Content(), DisplayName: cmp.Or(r.File.Name, "file")}
	src.Path = src.DisplayName
	if err := descriptor.CheckReserved(src.Path, r.Ref); err != nil {
		return src, err
	}
	settings, inherited, notes := herb.Settings{Descriptor: r.Descriptor}, false, []string(nil)
	if r.Descriptor == nil && live.Version != "" {
		if err := CheckSettings(live); err != nil {
			return src, err
		}
		var err error
		inherited = true
		settings, notes, err = Inherit(live, r.File.SHA256)
		if err != nil {
			return src, err
		}
	}
	settings.Reading = settings.Reading.Merge(r.Reading)
	reading := settings.Reading
	if r.File.Merged {
		settings.Reading = mergedReading()
	}
	src, err := applySettings(ctx, src, settings)
	if err != nil {
		return src, err
	}
	src.IsSettled = true
	if r.File.Merged {
		src = ofFields(src)
		src.Settings.Reading = reading // of the next file
	}
	if !r.File.Merged {
		src.Notes = slices.Concat(src.Notes, notes)
	}
	if inherited {
		src = Describe(src, ingest.Source{}, settings, live)
	}
	if r.Access != "" {
		src.Access, src.AccessSet = r.Access, true
	}
	return src, nil
}

// applySettings returns a source with settings.
func applySettings(ctx context.Context, src ingest.Source, settings herb.Settings) (ingest.Source, error) {
	if settings.Descriptor != nil {
		return Apply(src, settings, parameterPrefix)
	}
	formats := ingest.Formats()
	reading, err := descriptor.ParseReading(formats, settings.Reading, parameterPrefix)
	if err != nil {
		return src, err
	}
	finder := discover.New(discover.Options{Formats: formats, Reading: reading,
		TableParameter: parameterPrefix + "table"})
	return finder.AsInput(ctx, src, settings.Reading.Table)
}

// mergedReading is how a file that was made from records is read.
func mergedReading() herb.Reading {
	return herb.Reading{Format: "csv", Delimiter: ",", Encoding: "utf-8", Header: "1"}
}

// ofFields returns a source whose columns are the fields: names and conditions were applied when
// the records were made.
func ofFields(src ingest.Source) ingest.Source {
	src.Included, src.Include = src.Include, nil
	src.Excluded, src.Exclude = src.Exclude, nil
	src.Fields, src.ByPosition, src.Entry = slices.Clone(src.Fields), false, ""
	for i := range src.Fields {
		f := &src.Fields[i]
		f.Origin, f.From = f.Column(), ""
	}
	src.Dialect = rows.Options{Delimiter: ',', Encoding: "utf-8", HeaderRows: []int{1}}
	return src
}

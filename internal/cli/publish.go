package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
	"herbarium/internal/publish"
)

func newPublish(r *runner) *cobra.Command {
	var given publishFlags
	var opts publishOptions
	cmd := &cobra.Command{
		Use:   "publish PATH…",
		Short: "Publish files as datasets",
		Long: `Publish files as datasets. A file X/Y.csv becomes dataset x/y unless --as sets another name. PATH is

  - a file in CSV or other delimited text, in any common encoding, JSON (an array of objects, an object that contains one,
    or one object per line), Parquet, XLSX or SQLite; each may be compressed with gzip or zstd
  - a sheet of a workbook, FILE.xlsx#SHEET, or a table of a database, FILE.db#TABLE
  - a Data Package descriptor, such as one written by 'herbarium describe'
  - a folder: its descriptor, or the files in it and in its subfolders
  - "-" for standard input

Running servers list the new version as soon as the command has finished. Until then, and if it fails, they list the
previous one. Files that have not changed are not published again.

A new version is compared with the live one. Breaking changes are rejected: a field is removed or renamed, changes its type
or loses a flag, or more than half of the records are gone. A version is also rejected if its primary key is not unique or
an expectation fails. A dataset that requires a key becomes open only if the descriptor or --access states it. Use --check
to see the result without publishing. The exit code is 3 if a dataset was rejected.

With --json, standard output contains one JSON object per dataset and line: its status (published, unchanged, checked,
refused or failed), version, changes and report.`,
		Example: `  herbarium publish examples/garden/catalog.csv
  herbarium publish --check --report catalog.csv
  herbarium publish prices.csv --as shop/prices --access key
  herbarium publish prices.xlsx#2024 stock.db#beds shop/datapackage.json
  curl -s https://example.org/export | herbarium publish - --as shop/export --format csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("expected at least one file or folder to publish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) (err error) {
			// Large records produce much garbage; a memory limit bounds the heap for files of any size.
			app.LimitMemory(app.PublishMemory)
			c, _, err := r.config(cmd)
			if err != nil {
				return err
			}
			sources, remove, err := r.discover(cmd.Context(), ingest.Finder{Data: c.Data}, paths, given)
			defer func() { err = errors.Join(err, remove()) }()
			skipped, failed := ingest.SplitSkipped(err)
			r.notes(skipped)
			err = errors.Join(failed...)
			if len(sources) == 0 {
				return cmp.Or(err, usagef("no files to publish in %s", strings.Join(paths, ", ")))
			}
			if err := given.apply(sources); err != nil {
				return err
			}
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				return errors.Join(err, r.publish(ctx, d, sources, opts))
			})
		},
	}
	cmd.Flags().StringVar(&given.as, "as", "", "publish one file under this `namespace/dataset`")
	cmd.Flags().StringVar(&given.access, "access", "", "who can list the records: open or key (default: as in the descriptor, else open)")
	addFormat(cmd, &given.format)
	cmd.Flags().BoolVar(&opts.Check, "check", false, "validate without publishing, and print the report and the changes")
	cmd.Flags().BoolVar(&opts.AllowBreaking, "allow-breaking", false, "publish despite breaking changes")
	cmd.Flags().BoolVar(&opts.report, "report", false, "print the full report")
	jsonFlag(cmd, &opts.json, " only, one dataset per line")
	completeWith(cmd, "access", "open", "key")
	addSettings(cmd.Flags(), "keep", "cache_size", "retention")
	return cmd
}

// addFormat adds the flag --format, the format of the files.
func addFormat(cmd *cobra.Command, to *string) {
	names := ingest.FormatNames()
	cmd.Flags().StringVar(to, "format", "", "`format` of the files: "+strings.Join(names, ", ")+" (default: detected by extension and content)")
	completeWith(cmd, "format", names...)
}

// publishFlags are the flags that override settings of the files.
type publishFlags struct{ as, access, format string }

// apply sets the access and the format of the sources.
func (f publishFlags) apply(sources []ingest.Source) error {
	for i := range sources {
		s := &sources[i]
		if f.access != "" {
			access, err := herb.ParseAccess(f.access)
			if err != nil {
				return &usageError{err}
			}
			s.Access, s.AccessSet = access, true
		}
		if f.format != "" {
			if s.Descriptor != nil {
				return usagef("--format cannot be combined with a descriptor; set the format in the descriptor of %s", s.Ref)
			}
			format, err := ingest.ParseFormat(f.format)
			if err != nil {
				return &usageError{err}
			}
			s.Format = format
		}
	}
	return nil
}

// discover returns the sources at the paths, and a function that removes temporary files of theirs. Sources may be returned
// together with an error about other paths.
func (r *runner) discover(ctx context.Context, finder ingest.Finder, paths []string, given publishFlags) (sources []ingest.Source, remove func() error, err error) {
	remove = func() error { return nil }
	if given.as == "" {
		if slices.Contains(paths, stdinPath) {
			return nil, remove, usagef("standard input has no name; set one with --as namespace/dataset")
		}
		sources, err = finder.Discover(paths)
		return sources, remove, err
	}
	ref, err := herb.ParseRef(given.as)
	if err != nil {
		return nil, remove, &usageError{err}
	}
	if len(paths) != 1 {
		return nil, remove, usagef("--as names one dataset; expected one file")
	}
	if err := given.apply(make([]ingest.Source, 1)); err != nil { // validates the flags before reading a long input
		return nil, remove, err
	}
	var s ingest.Source
	if paths[0] == stdinPath {
		var spooled func() error
		if s, spooled, err = r.spool(ctx, ref); err == nil {
			remove = spooled
		}
	} else {
		s, err = finder.As(paths[0], ref)
	}
	if err != nil {
		return nil, remove, err
	}
	return []ingest.Source{s}, remove, nil
}

// publishOptions are the options of a publish and of its output.
type publishOptions struct {
	publish.Options
	report, json bool
}

func (r *runner) publish(ctx context.Context, d *app.Data, sources []ingest.Source, opts publishOptions) error {
	failed, refused := 0, false
	for _, s := range sources {
		shown := r.newProgress(s.Ref.String())
		opts.Progress = shown.update
		p, err := d.Publish(ctx, s, opts.Options)
		shown.end()
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			fmt.Fprintf(r.Err, "%s\n", bug.Stack)
		}
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed++
			refused = refused || herb.CodeOf(err) == herb.CodeRefused
		}
		if printErr := r.printResult(s.Ref, p, err, opts); printErr != nil {
			return printErr
		}
	}
	if failed == 0 {
		return nil
	}
	outcome := "not published"
	if opts.Check {
		outcome = "would not be published"
	}
	err := fmt.Errorf("%d of %d datasets %s", failed, len(sources), outcome)
	if refused {
		return &refusedError{err}
	}
	return err
}

// printResult prints the result of a publish.
func (r *runner) printResult(ref herb.Ref, p publish.Result, failure error, opts publishOptions) error {
	if failure != nil {
		defer fmt.Fprintf(r.Err, "herbarium: %s: %v\n", ref, failure)
	}
	if opts.json {
		return writeJSON(r.Out, newPublishedJSON(ref, p, failure, opts))
	}
	if failure != nil && !(opts.Check && p.Dataset.Report != nil) {
		return nil
	}
	fmt.Fprintln(r.Out, describe(p))
	full := opts.report || opts.Check
	if full && p.Dataset.Report != nil {
		if err := writeReport(r.Out, p.Dataset); err != nil {
			return err
		}
	}
	if opts.Check && !p.Unchanged {
		fmt.Fprintln(r.Out)
		r.writeChanges(p)
	}
	if !p.Unchanged || full {
		writeNotes(r.Err, p.Dataset.Report, full)
	}
	return nil
}

// publishedJSON is the output of a publish with --json.
type publishedJSON struct {
	Dataset   string           `json:"dataset"`
	Status    string           `json:"status"` // published, unchanged, checked, refused or failed
	Error     string           `json:"error,omitempty"`
	Records   int              `json:"records"`
	Version   string           `json:"version,omitempty"`
	Published time.Time        `json:"published_at,omitzero"`
	Replaces  string           `json:"replaces,omitempty"` // the version that was live
	Fields    []herb.Field     `json:"fields,omitempty"`
	Changes   []library.Change `json:"changes,omitempty"`
	Report    *herb.Report     `json:"report,omitempty"`
}

func newPublishedJSON(ref herb.Ref, p publish.Result, failure error, opts publishOptions) publishedJSON {
	j := publishedJSON{
		Dataset: ref.String(), Status: "published", Records: p.Dataset.Records, Version: p.Dataset.Version,
		Published: p.Dataset.Published, Replaces: p.Replaces, Fields: p.Dataset.Fields, Changes: p.Changes, Report: p.Dataset.Report,
	}
	switch {
	case failure != nil:
		j.Status, j.Error = "failed", failure.Error()
		if herb.CodeOf(failure) == herb.CodeRefused {
			j.Status = "refused"
		}
	case p.Unchanged:
		j.Status = "unchanged"
	case opts.Check:
		j.Status = "checked"
	}
	if j.Version == "" { // nothing was published
		j.Published = time.Time{}
	}
	return j
}

// describe summarizes the result of a publish in two lines.
func describe(p publish.Result) string {
	const most = 50
	var fields []string
	for _, f := range p.Dataset.Fields[:min(len(p.Dataset.Fields), most)] {
		fields = append(fields, herb.Clip(printable(f.Name), 60)+" "+string(f.Type))
	}
	if more := len(p.Dataset.Fields) - most; more > 0 {
		fields = append(fields, herb.Count(more)+" more")
	}
	verb, version := "published", "version "+p.Dataset.Version
	switch {
	case p.Unchanged:
		verb = "unchanged"
	case p.Dataset.Version == "":
		verb, version = "checked", "not published"
	}
	return fmt.Sprintf("%s %s: %s records, %s\n  fields: %s", verb, p.Dataset.Ref, herb.Count(p.Dataset.Records),
		version, strings.Join(fields, ", "))
}

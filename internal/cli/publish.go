package cli

import (
	"cmp"
	"context"
	"encoding/json"
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
)

func newPublish(r *runner) *cobra.Command {
	var given publishFlags
	var opts publishOptions
	cmd := &cobra.Command{
		Use:   "publish PATH…",
		Short: "Publish files as datasets",
		Long: `Publishes files as datasets. A file X/Y.csv becomes dataset x/y unless --as says otherwise. A path is

  - a file of CSV or of other delimited text in any encoding, of JSON (an array of objects, one in a wrapper, or an object
    a line), Parquet, XLSX or SQLite, each also compressed with gzip or zstd;
  - a sheet of a workbook, FILE.xlsx#SHEET, or a table of a database, FILE.db#TABLE;
  - a Data Package descriptor, such as one that 'herbarium describe' wrote;
  - a folder: its descriptor, or the files in it and in its subfolders;
  - - for standard input.

Running servers list the new version as soon as the command has ended; until then, and if it fails, they list the old
one. A file that has not changed is not published again.

A new version is compared with the live one. If a field is gone, renamed, of another type or has lost a flag, or if more
than half of the records are gone, it is refused, and so it is if its primary key is not unique or one of its goldens
fails. A dataset that needs a key becomes open only if the descriptor or --access states it. --check tells all that without publishing. The exit code is 3 if a dataset was refused.

With --json, standard output has one JSON object a line, one for each dataset: its status (published, unchanged, checked,
refused or failed), version, changes and report.`,
		Example: `  herbarium publish examples/garden/catalog.csv
  herbarium publish --check --report catalog.csv
  herbarium publish prices.csv --as shop/prices --access key
  herbarium publish prices.xlsx#2024 stock.db#beds shop/datapackage.json
  curl -s https://example.org/export | herbarium publish - --as shop/export --format csv`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("give at least one file or folder to publish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) (err error) {
			// Records of megabytes leave much garbage behind; collecting it early keeps a publish of any file small.
			app.LimitMemory(app.PublishMemory)
			c, _, err := r.config(cmd)
			if err != nil {
				return err
			}
			sources, remove, err := r.find(cmd.Context(), ingest.Finder{Data: c.Data}, paths, given)
			defer func() { err = errors.Join(err, remove()) }()
			skipped, failed := ingest.SplitSkipped(err)
			r.notes(skipped)
			err = errors.Join(failed...)
			if len(sources) == 0 {
				return cmp.Or(err, usagef("there is nothing to publish in %s", strings.Join(paths, ", ")))
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
	cmd.Flags().StringVar(&given.access, "access", "", "who may list it: open or key (default: as the descriptor says, else open)")
	addFormat(cmd, &given.format)
	cmd.Flags().BoolVar(&opts.Check, "check", false, "do everything but publish, and print the report and the changes")
	cmd.Flags().BoolVar(&opts.AllowBreaking, "allow-breaking", false, "publish even what breaks those who use the dataset")
	cmd.Flags().BoolVar(&opts.report, "report", false, "print the report in full")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON, one dataset a line, and nothing else")
	_ = cmd.RegisterFlagCompletionFunc("access", cobra.FixedCompletions([]string{"open", "key"}, cobra.ShellCompDirectiveNoFileComp))
	addSettings(cmd.Flags(), "keep", "cache_size", "retention")
	return cmd
}

// addFormat adds the flag that names the format of files.
func addFormat(cmd *cobra.Command, to *string) {
	names := ingest.FormatNames()
	cmd.Flags().StringVar(to, "format", "", "how the files are written: "+strings.Join(names, ", ")+" (default: by extension and content)")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// publishFlags are what a command line says of the files.
type publishFlags struct{ as, access, format string }

// apply puts what the command line says of files into their sources.
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
				return usagef("--format is about files; the descriptor of %s says itself how its file is written", s.Ref)
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

// find returns what there is to publish, and how to remove what it had to keep for that. What could not be found does not
// keep the rest from being published.
func (r *runner) find(ctx context.Context, finder ingest.Finder, paths []string, given publishFlags) (sources []ingest.Source, remove func() error, err error) {
	remove = func() error { return nil }
	if given.as == "" {
		if slices.Contains(paths, stdinPath) {
			return nil, remove, usagef("standard input has no name; give it one with --as namespace/dataset")
		}
		sources, err = finder.Discover(paths)
		return sources, remove, err
	}
	ref, err := herb.ParseRef(given.as)
	if err != nil {
		return nil, remove, &usageError{err}
	}
	if len(paths) != 1 {
		return nil, remove, usagef("--as names one dataset; give one file with it")
	}
	if err := given.apply(make([]ingest.Source, 1)); err != nil { // before a long input is read for nothing
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

// publishOptions are how a publish is done and told.
type publishOptions struct {
	app.PublishOptions
	report, json bool
}

func (r *runner) publish(ctx context.Context, d *app.Data, sources []ingest.Source, opts publishOptions) error {
	failed, refused := 0, false
	for _, s := range sources {
		shown := r.newProgress(s.Ref.String())
		opts.Progress = shown.update
		p, err := d.Publish(ctx, s, opts.PublishOptions)
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
		if tell := r.tell(s.Ref, p, err, opts); tell != nil {
			return tell
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

// tell prints what came of a publish.
func (r *runner) tell(ref herb.Ref, p app.Published, failure error, opts publishOptions) error {
	if failure != nil {
		defer fmt.Fprintf(r.Err, "herbarium: %s: %v\n", ref, failure)
	}
	if opts.json {
		return json.NewEncoder(r.Out).Encode(newPublishedJSON(ref, p, failure, opts))
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

// publishedJSON is what --json prints of a publish.
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

func newPublishedJSON(ref herb.Ref, p app.Published, failure error, opts publishOptions) publishedJSON {
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

// describe tells in two lines what came of a publish.
func describe(p app.Published) string {
	const most = 50
	var fields []string
	for _, f := range p.Dataset.Fields[:min(len(p.Dataset.Fields), most)] {
		fields = append(fields, shorten(printable(f.Name), 60)+" "+string(f.Type))
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

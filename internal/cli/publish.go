package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/library"
)

func newPublish(r *runner) *cobra.Command {
	var as, access string
	var opts publishOptions
	cmd := &cobra.Command{
		Use:   "publish PATH…",
		Short: "Publish files as datasets",
		Long: `Publishes a CSV, TSV, JSON or NDJSON file, a Data Package descriptor, or what is in a folder. A file X/Y.csv becomes
dataset x/y unless --as says otherwise. Running servers list the new version as soon as the command has ended; until
then, and if it fails, they list the old one. A file that has not changed is not published again.

A new version is compared with the live one. If a field is gone, renamed, of another type or has lost a flag, or if more
than half of the records are gone, it is refused, and so it is if its primary key is not unique or one of its goldens
fails. --check tells all that without publishing. The exit code is 3 if a dataset was refused.

With --json, standard output has one JSON object a line, one for each dataset: its status (published, unchanged, checked,
refused or failed), version, changes and report.`,
		Example: `  herbarium publish examples/garden/catalog.csv
  herbarium publish --check --report catalog.csv
  herbarium publish prices.csv --as shop/prices --access key`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("give at least one file or folder to publish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			sources, err := find(paths, as)
			skipped, failed := ingest.SplitSkipped(err)
			r.notes(skipped)
			err = errors.Join(failed...)
			if len(sources) == 0 {
				return cmp.Or(err, usagef("there is nothing to publish in %s", strings.Join(paths, ", ")))
			}
			if access != "" {
				a, err := herb.ParseAccess(access)
				if err != nil {
					return &usageError{err}
				}
				for i := range sources {
					sources[i].Access = a
				}
			}
			// Records of megabytes leave much garbage behind; collecting it early keeps a publish of any file small.
			if os.Getenv("GOMEMLIMIT") == "" {
				debug.SetMemoryLimit(320 << 20)
			}
			return r.withData(cmd, func(ctx context.Context, d *app.Data) error {
				return errors.Join(err, r.publish(ctx, d, sources, opts))
			})
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "publish one file under this `namespace/dataset`")
	cmd.Flags().StringVar(&access, "access", "", "who may list it: open or key (default: as the descriptor says, else open)")
	cmd.Flags().BoolVar(&opts.Check, "check", false, "do everything but publish, and print the report and the changes")
	cmd.Flags().BoolVar(&opts.AllowBreaking, "allow-breaking", false, "publish even what breaks those who use the dataset")
	cmd.Flags().BoolVar(&opts.report, "report", false, "print the report in full")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON, one dataset a line, and nothing else")
	_ = cmd.RegisterFlagCompletionFunc("access", cobra.FixedCompletions([]string{"open", "key"}, cobra.ShellCompDirectiveNoFileComp))
	addSettings(cmd.Flags(), "keep")
	return cmd
}

// find returns what there is to publish. What could not be found does not keep the rest from being published.
func find(paths []string, as string) ([]ingest.Source, error) {
	if as == "" {
		return ingest.Discover(paths)
	}
	ref, err := herb.ParseRef(as)
	if err != nil {
		return nil, &usageError{err}
	}
	if len(paths) != 1 {
		return nil, usagef("--as names one dataset; give one file with it")
	}
	s, err := ingest.As(paths[0], ref)
	if err != nil {
		return nil, err
	}
	return []ingest.Source{s}, nil
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

// describe tells in a line what came of a publish.
func describe(p app.Published) string {
	fields := make([]string, len(p.Dataset.Fields))
	for i, f := range p.Dataset.Fields {
		fields[i] = printable(f.Name) + " " + string(f.Type)
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

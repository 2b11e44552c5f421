package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rows"
	"herbarium/internal/publish"
	"herbarium/internal/remote"
	"herbarium/internal/versions"
)

func newPublish(r *runner) *cobra.Command {
	var given publishFlags
	var opts publishOptions
	var consents func() []herb.Consent
	var server remoteFlags
	var message string
	cmd := &cobra.Command{
		Use:   "publish PATH…",
		Short: "Publish files as datasets",
		Long: `Publish files as datasets. A file X/Y.csv becomes dataset x/y unless --as sets another name. PATH is

  - a file in CSV or other delimited text, JSON, Parquet, XLSX or SQLite; each may be compressed with gzip, zstd, bzip2 or
    xz, or be in a zip archive. Every sheet, database table, JSON array of records or file of an archive becomes a dataset
  - one of them: FILE.xlsx#SHEET, FILE.db#TABLE, FILE.json#MEMBER or FILE.zip#FILE
  - a Data Package descriptor, such as one written by 'herbarium describe'
  - a folder: its descriptor, or the tables in it and in its subfolders; other files are skipped and listed
  - "-" for standard input
  - an address, https://… or s3://…, with --as: the file is fetched, and again by running servers as --refresh says

Delimiter, encoding, header and comments of text are detected; the report says how a file was read. Override them with
--delimiter, --widths, --encoding, --header, --comment and --skip, or with a descriptor. If a file is read wrongly, run --check
--explain: it prints what was compared, what spoke for it, words in two encodings if the text is not UTF-8, and the flags
that select each.

Running servers list the new version as soon as the command has finished; with --blobs, once they have fetched it, usually
within a second. Until then, and if the command fails, they list the previous one. Files that have not changed are not
published again, unless the file of the live version is damaged or missing, or --force is set.

A new version is compared with the live one. Breaking changes are rejected: a field is removed or renamed, changes its type
or loses a flag, or more than half of the records are gone. A version is also rejected if its primary key is not unique or
an expectation fails, which only --allow-failed-expectations permits. Use --check to see the result without publishing or creating anything. The exit code is 3 if a dataset
was rejected.

What was hidden stays hidden. A file without a descriptor keeps the settings of the live version: its fields, conditions and
access. A version is rejected if it exposes what the live one hides: a column, rows or values, the records of a dataset that
requires a key, or the source file. --allow-exposure publishes it; neither --allow-breaking nor --force does.

With --to, files are sent to a server, which publishes them with the same checks and results; the key comes from the
environment variable ` + app.KeyEnv + ` or from --key-file. If the connection fails, the file is sent again, which is safe: it is
published once, and then unchanged; with --force, perhaps twice.

With --json, standard output contains one JSON object per dataset and line: its status (published, unchanged, checked,
rejected or failed), version, changes and report.`,
		Example: `  herbarium publish examples/garden/catalog.csv
  herbarium publish --check --report catalog.csv
  herbarium publish --check --explain survey.csv
  herbarium publish prices.csv --as shop/prices --access key
  herbarium publish prices.xlsx#2024 stock.db#beds shop/datapackage.json
  herbarium publish log.txt --header none --comment '#'
  herbarium publish export.csv --skip 3 --delimiter ';' --encoding windows-1252
  curl -s https://example.org/export | herbarium publish - --as shop/export --format csv
  herbarium publish prices.csv --as shop/prices --message 'Autumn prices'
  herbarium publish prices.csv --to https://data.example.org --as shop/prices
  herbarium publish https://example.org/prices.csv --as shop/prices --refresh 1h`,
		Args: expectArgs(1, math.MaxInt, "at least one file or folder to publish"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			// Large records produce much garbage; a memory limit bounds the heap for files of any
			// size.
			app.LimitMemory(app.PublishMemory)
			opts.Consents = consents()
			var err error
			opts.Message, err = herb.ParseMessage(message)
			if err != nil {
				return usage(err)
			}
			var client *remote.Client
			if server.given(cmd) {
				client, err = r.client(cmd, server)
				if err != nil {
					return err
				}
			}
			c, err := r.config(cmd)
			if err != nil {
				return err
			}
			finder, err := given.finder(c.Data)
			if err != nil {
				return err
			}
			set, err := r.discover(cmd.Context(), finder, paths, given)
			if err != nil {
				return err
			}
			r.printSkipped(set.Skipped)
			if len(set.Sources) == 0 {
				return cmp.Or(set.Err(), usagef("no files to publish in %s", strings.Join(paths, ", ")))
			}
			if err := given.apply(set.Sources); err != nil {
				return err
			}
			closeFetched, err := r.fetchSources(cmd.Context(), set.Sources)
			if err != nil {
				return err
			}
			defer closeFetched()
			if client != nil {
				return errors.Join(set.Err(), r.publish(cmd.Context(), remotePublisher{client}, set, opts))
			}
			open := r.createData
			if opts.Check {
				open = r.checkData
			}
			return open(cmd, func(ctx context.Context, d *app.Data) error {
				return errors.Join(set.Err(), r.publish(ctx, d, set, opts))
			})
		},
	}
	stringFlag(cmd, &given.as, "as", "publish one file under this `namespace/dataset`", r.completeDataset())
	stringFlag(cmd, &given.refresh, "refresh",
		"`time` after which servers fetch the file at an address again: a period such as 1h, a cron expression, or "+
			"manual (default)", offer("1h", "1d", "manual"))
	stringFlag(cmd, &given.access, "access",
		"`access` to the records: open or key (default: as in the descriptor or the folder, else the setting access)",
		offer(string(herb.AccessOpen), string(herb.AccessKey)))
	cmd.ValidArgsFunction = offerPaths()
	given.add(cmd)
	server.add(cmd, "send the files to the server at this `URL` instead of publishing them on this machine")
	cmd.Flags().BoolVar(&opts.Check, "check", false,
		"validate without publishing, and print the report and the changes")
	cmd.Flags().BoolVar(&opts.explain, "explain", false,
		"print what was compared for the delimiter, the header and the footnotes of each file, the evidence, its "+
			"words in two encodings, and how to select another one")
	stringFlag(cmd, &message, "message",
		"`text` about the version, such as 'Autumn prices': one line, which lists of versions show", offer())
	consents = addConsents(cmd.Flags(), "publish", herb.Consents())
	cmd.Flags().BoolVar(&opts.Force, "force", false,
		"publish even if the files have not changed, for example to apply how a new program version reads them")
	cmd.Flags().BoolVar(&opts.report, "report", false, "print the full report")
	addSettings(cmd.Flags(), groupFiles, "keep", "keep_for", "cache_size", "retention")
	return r.jsonFlag(cmd, " only, one dataset per line")
}

// publishFlags are the flags that override settings of the files.
type publishFlags struct {
	readFlags
	as, access string
	refresh    string // of a file at an address
}

// apply sets the access of the sources and checks that the flags apply to them.
func (f publishFlags) apply(sources []descriptor.Source) error {
	if f.access != "" {
		access, err := herb.ParseAccess(f.access)
		if err != nil {
			return usage(err)
		}
		for i := range sources {
			sources[i].Access, sources[i].AccessSet = access, true
		}
	}
	return f.check(sources)
}

// discover returns the sources at the paths.
func (r *runner) discover(ctx context.Context, finder *discover.Finder, paths []string,
	given publishFlags) (set descriptor.Set, err error) {
	isAddress := slices.ContainsFunc(paths, herb.IsFetchAddress)
	if given.refresh != "" && !isAddress {
		return set, usagef("--refresh is for a file at an address; write https://… instead of the path")
	}
	if given.as == "" {
		if isAddress {
			return set, usagef("a file at an address needs a name; set one with --as namespace/dataset")
		}
		if slices.Contains(paths, stdinPath) {
			return set, usagef("standard input has no name; set one with --as namespace/dataset")
		}
		return finder.Discover(ctx, paths), nil
	}
	ref, err := herb.ParseRef(given.as)
	if err != nil {
		return set, usage(err)
	}
	if len(paths) != 1 {
		return set, usagef("--as names one dataset; expected one file")
	}
	if isAddress {
		s, err := fetchedSource(ref, paths[0], given.refresh)
		set.Sources = []descriptor.Source{s}
		return set, err
	}
	set.Sources = make([]descriptor.Source, 1)
	if err := given.apply(set.Sources); err != nil { // validates the flags before reading a long input
		return set, err
	}
	if paths[0] == stdinPath {
		set.Sources[0], err = r.copyInput(ctx, ref, given.readFlags)
		if err == nil {
			set.Sources[0], err = finder.AsInput(ctx, set.Sources[0], "")
		}
	} else {
		set.Sources[0], err = finder.As(ctx, paths[0], ref)
	}
	return set, err
}

// publishOptions are the options of a publish and of its output.
type publishOptions struct {
	publish.Options
	report, explain bool
}

// publisher publishes sources: on this machine, or on a server.
type publisher interface {
	Publish(ctx context.Context, s descriptor.Source, opts publish.Options) (versions.Result, error)
}

// publish publishes the sources of a set and prints a summary if there is more than one file.
func (r *runner) publish(ctx context.Context, to publisher, set descriptor.Set, opts publishOptions) error {
	unchanged, failed, rejected := 0, 0, false
	for _, s := range set.Sources {
		display := r.newProgress(s.Ref.String())
		opts.Progress = display.update
		p, err := to.Publish(ctx, s, opts.Options)
		display.end()
		if bug, ok := errors.AsType[*herb.PanicError](err); ok {
			fmt.Fprintf(r.Err, "%s\n", bug.Stack)
		}
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			failed++
			rejected = rejected || herb.CodeOf(err) == herb.CodeRejected
		} else if p.Status == versions.StatusUnchanged {
			unchanged++
		}
		var explanation rows.Explanation
		if opts.explain {
			explanation = r.explainReading(ctx, s)
		}
		r.printResult(s.Ref, p, err, explanation, opts)
	}
	verb, outcome := "published", "not published"
	if opts.Check {
		verb, outcome = "checked", "would not be published"
	}
	if len(set.Sources)+len(set.Skipped)+len(set.Errors) > 1 {
		fmt.Fprintf(r.Err, "%s %s, %d unchanged, %d failed; %s skipped\n",
			herb.Plural(len(set.Sources)-unchanged-failed, "dataset", "datasets"),
			verb, unchanged, failed+len(set.Errors), herb.Plural(len(set.Skipped), "file", "files"))
	}
	if failed == 0 {
		return nil
	}
	err := fmt.Errorf("%d of %d datasets %s", failed, len(set.Sources), outcome)
	if rejected {
		return &exitError{err, exitRefused}
	}
	return err
}

func (r *runner) printResult(ref herb.Ref, p versions.Result, failure error, e rows.Explanation, opts publishOptions) {
	if failure != nil {
		p.Fail(ref, failure)
		p.Error = messageOf(failure)
		defer fmt.Fprintf(r.Err, "herbarium: %s: %s\n", ref, escapeText(p.Error))
	}
	if r.asJSON {
		_ = writeJSON(r.Out, struct {
			versions.Result
			Candidates []rows.Candidate      `json:"candidates,omitempty"`
			Encodings  []rows.EncodingSample `json:"encodings,omitempty"`
		}{p, e.Candidates, e.Encodings})
		return
	}
	if opts.explain {
		defer writeExplanation(r.Out, e)
	}
	if failure != nil && !(opts.Check && p.Report != nil) {
		return
	}
	fmt.Fprintln(r.Out, summarize(p))
	full := opts.report || opts.Check
	if full && p.Report != nil {
		writeReport(r.Out, p.Report, p.PrimaryKey, p.InferredKey)
	}
	if opts.Check && p.Status != versions.StatusUnchanged {
		fmt.Fprintln(r.Out)
		r.writeChanges(p)
	}
	switch notes := reportNotes(p.Report); {
	case full:
		writeNotes(r.Err, notes)
	case p.Status != versions.StatusUnchanged:
		writeNotes(r.Err, firstOf(notes, 10, "; --report shows them"))
	}
}

// summarize describes the result of a publish in two lines.
func summarize(p versions.Result) string {
	var fields []string
	for _, f := range p.Fields {
		fields = append(fields, herb.Clip(printable(f.Name), 60)+" "+string(f.Type))
	}
	verb, version := "published", "version "+p.Version
	switch {
	case p.Status == versions.StatusUnchanged:
		verb = "unchanged"
	case p.Version == "":
		verb, version = "checked", "not published"
	}
	return fmt.Sprintf("%s %s: %s, %s\n  fields: %s", verb, p.Dataset, herb.Plural(p.Records, "record", "records"),
		version, strings.Join(firstOf(fields, 50, ""), ", "))
}

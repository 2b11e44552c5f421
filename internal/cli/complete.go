package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// completion is a function that returns what a shell offers for a flag or an argument.
type completion = cobra.CompletionFunc

// completeFlag sets what a shell offers for a flag.
func completeFlag(cmd *cobra.Command, flag string, f completion) {
	_ = cmd.RegisterFlagCompletionFunc(flag, f) // the flag exists
}

// stringFlag adds a flag and sets what a shell offers for it.
func stringFlag(cmd *cobra.Command, to *string, flag, usage string, f completion) {
	cmd.Flags().StringVar(to, flag, "", usage)
	completeFlag(cmd, flag, f)
}

// offer offers values, and no files.
func offer(values ...string) completion {
	return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
}

// addCompletions sets what a shell offers for the flags that all commands have, and disables file names where no command
// accepts them.
func (r *runner) addCompletions(root *cobra.Command) {
	completeFlag(root, "log-level", offer("debug", "info", "warn", "error"))
	completeFlag(root, "log-format", offer("auto", "human", "json"))
	completeFlag(root, "config", completeFiles("yaml", "yml"))
	completeFlag(root, "data", completeFolders)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
}

// completeFolders offers folders.
func completeFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completePaths offers all files and folders.
func completePaths(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFiles offers files with the given extensions, and folders.
func completeFiles(extensions ...string) completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeArgs completes each argument with one of the functions, in their order.
func completeArgs(each ...completion) completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= len(each) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return each[len(args)](cmd, args, typed)
	}
}

// completeData returns a completion that reads the data folder.
func (r *runner) completeData(list func(ctx context.Context, d *app.Data, args []string, typed string) ([]string, error)) completion {
	return func(cmd *cobra.Command, args []string, typed string) (values []string, _ cobra.ShellCompDirective) {
		err := r.withData(cmd, func(ctx context.Context, d *app.Data) (err error) {
			values, err = list(ctx, d, args, typed)
			return err
		})
		if err != nil { // cobra shows nothing; the command itself reports the reason
			return nil, cobra.ShellCompDirectiveError
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeDataset offers the names of datasets.
func (r *runner) completeDataset() completion {
	return r.completeData(func(ctx context.Context, d *app.Data, _ []string, _ string) ([]string, error) {
		return datasetNames(ctx, d)
	})
}

func datasetNames(ctx context.Context, d *app.Data) (names []string, err error) {
	live, err := d.Library.Live(ctx)
	for _, v := range live {
		names = append(names, v.Ref.String())
	}
	return names, err
}

// completeVersion offers the stored versions of the dataset that is the first argument.
func (r *runner) completeVersion() completion {
	return r.completeData(func(ctx context.Context, d *app.Data, args []string, _ string) (values []string, err error) {
		ref, err := firstRef(args)
		if err != nil {
			return nil, err
		}
		versions, err := d.Library.History(ctx, ref)
		for _, v := range versions {
			values = append(values, v.Version+"\t"+herb.Count(v.Records)+" records")
		}
		return values, err
	})
}

// firstRef parses the first argument as a dataset.
func firstRef(args []string) (herb.Ref, error) {
	if len(args) == 0 {
		return herb.Ref{}, usagef("expected a dataset")
	}
	return herb.ParseRef(args[0])
}

// completeQuery offers the parameters of a listing of the dataset that is the first argument, for the last parameter of a
// query.
func (r *runner) completeQuery() completion {
	list := r.completeData(func(ctx context.Context, d *app.Data, args []string, typed string) ([]string, error) {
		ref, err := firstRef(args)
		if err != nil {
			return nil, err
		}
		ds, err := d.Library.Describe(ctx, ref)
		return queryParameters(ds, typed), err
	})
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		values, directive := list(cmd, args, typed)
		return values, directive | cobra.ShellCompDirectiveNoSpace
	}
}

// queryParameters returns continuations of a query: the names of parameters, or the fields to sort by.
func queryParameters(ds herb.Dataset, typed string) (values []string) {
	before := typed[:strings.LastIndex(typed, "&")+1]
	if last := typed[len(before):]; strings.HasPrefix(last, query.ParamSort+"=") {
		for _, f := range ds.Fields {
			if f.Sortable {
				values = append(values, before+query.ParamSort+"="+f.Name)
			}
		}
		return values
	}
	for _, f := range ds.Fields {
		if f.Filterable {
			values = append(values, before+f.Name+"=\t"+string(f.Type))
		}
	}
	return append(values, before+query.ParamSearch+"=\tfull-text search", before+query.ParamSort+"=\torder of the records")
}

// completeScope offers the scopes of a key.
func (r *runner) completeScope() completion {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		values := []string{string(herb.ScopePlantsWrite) + "\tcreate plants", string(herb.ScopeDataRead) + "\tlist every dataset"}
		_ = r.withData(cmd, func(ctx context.Context, d *app.Data) error { // without data, these are still valid
			names, err := datasetNames(ctx, d)
			for _, name := range names {
				namespace, _, _ := strings.Cut(name, "/")
				if all := string(herb.ScopeDataRead) + ":" + namespace + "/*"; !slices.Contains(values, all) {
					values = append(values, all)
				}
				values = append(values, string(herb.ScopeDataRead)+":"+name)
			}
			return err
		})
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeKey offers the IDs of the keys in use, with their names.
func (r *runner) completeKey() completion {
	return r.completeData(func(ctx context.Context, d *app.Data, _ []string, _ string) (values []string, err error) {
		keys, err := d.Store.Keys(ctx)
		for _, k := range keys {
			if k.Revoked.IsZero() {
				values = append(values, k.ID+"\t"+printable(k.Name))
			}
		}
		return values, err
	})
}

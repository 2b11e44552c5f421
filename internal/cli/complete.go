package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/text"
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

// addCompletions sets what a shell offers for the flags that all commands have, and disables file
// names where no command accepts them.
func (r *runner) addCompletions(root *cobra.Command) {
	completeFlag(root, "log-level", offer("debug", "info", "warn", "error"))
	completeFlag(root, "log-format", offer("auto", "human", "json"))
	completeFlag(root, "config", offerFiles("yaml", "yml"))
	completeFlag(root, "data", offerFolders())
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
}

func offerFolders() completion {
	return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
}

// offerPaths offers all files and folders.
func offerPaths() completion { return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault) }

// offerFiles offers files with the given extensions, and folders.
func offerFiles(extensions ...string) completion {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
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

// completeData returns a completion that reads the data folder. list gets the dataset that is the
// first argument, if it is one.
func (r *runner) completeData(
	directive cobra.ShellCompDirective, list func(ctx context.Context, d *app.Data, ref herb.Ref,
		typed string) ([]string, error),
) completion {
	return func(cmd *cobra.Command, args []string, typed string) (values []string, _ cobra.ShellCompDirective) {
		err := r.withData(cmd, func(ctx context.Context, d *app.Data) (err error) {
			var ref herb.Ref
			if len(args) > 0 {
				ref, _ = herb.ParseRef(args[0]) // list finds no such dataset
			}
			values, err = list(ctx, d, ref, typed)
			return err
		})
		if err != nil { // cobra shows nothing; the command itself reports the reason
			return nil, cobra.ShellCompDirectiveError | directive
		}
		return values, cobra.ShellCompDirectiveNoFileComp | directive
	}
}

func (r *runner) completeDataset() completion {
	return r.completeData(0, func(ctx context.Context, d *app.Data, _ herb.Ref, _ string) ([]string, error) {
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

func (r *runner) completeVersion() completion {
	return r.completeData(0, func(ctx context.Context, d *app.Data, ref herb.Ref, _ string) (values []string,
		err error) {
		versions, err := d.Versions.History(ctx, ref)
		for _, v := range versions {
			values = append(values, v.Version+"\t"+herb.Plural(v.Records, "record", "records"))
			for _, label := range v.Labels {
				values = append(values, label+"\tlabel of "+v.Version)
			}
		}
		return values, err
	})
}

func newCompletion(r *runner) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that enables completion in a shell",
		Long: `Print a script for bash, zsh, fish or powershell that completes commands, flags, datasets and versions.
Load it in the current shell, or save it to be loaded by every new one:

  bash        source <(herbarium completion bash)
              herbarium completion bash > /etc/bash_completion.d/herbarium
  zsh         source <(herbarium completion zsh)
              herbarium completion zsh > "${fpath[1]}/_herbarium"
  fish        herbarium completion fish | source
              herbarium completion fish > ~/.config/fish/completions/herbarium.fish
  powershell  herbarium completion powershell | Out-String | Invoke-Expression
              add the same line to $PROFILE

bash needs the package bash-completion. In zsh, run 'autoload -U compinit; compinit' first if completion is not enabled.`,
		Example:   "  source <(herbarium completion bash)",
		ValidArgs: shells,
		Args:      expectArgs(1, 1, "one of "+strings.Join(shells, ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			const descriptions = true
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(r.Out, descriptions)
			case "zsh":
				return root.GenZshCompletion(r.Out)
			case "fish":
				return root.GenFishCompletion(r.Out, descriptions)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(r.Out)
			}
			return usagef("unknown shell %q%s shells: %s", args[0], text.Suggestion(args[0], shells),
				strings.Join(shells, ", "))
		},
	}
}

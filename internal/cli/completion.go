package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"herbarium/internal/text"
)

func newCompletion(r *runner) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that enables completion in a shell",
		Long: `Print a script for bash, zsh, fish or powershell that completes commands, flags, datasets, versions, fields, scopes and keys.
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
			return usagef("unknown shell %q%s shells: %s", args[0], text.Suggestion(args[0], shells), strings.Join(shells, ", "))
		},
	}
}

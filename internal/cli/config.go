package cli

import (
	"io"

	"github.com/spf13/cobra"
)

func newConfig(r *runner) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration in effect and the origin of each value",
		Long: `Print every setting in the format of a configuration file, with the origin of its value: a flag, the environment, the file
or the default, in this order of precedence. Secrets are not shown.`,
		Example: `  herbarium config
  HERBARIUM_ADDR=:9000 herbarium config > herbarium.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, origins, err := r.config(cmd)
			if err != nil {
				return err
			}
			_, err = io.WriteString(r.Out, c.YAML(origins))
			return err
		},
	}
	addSettings(cmd.Flags(), serverSettings()...)
	return cmd
}

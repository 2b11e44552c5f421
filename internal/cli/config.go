package cli

import (
	"io"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
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
			if r.asJSON {
				return r.printSettings(c, origins)
			}
			_, err = io.WriteString(r.Out, c.YAML(origins))
			return err
		},
	}
	addSettings(cmd.Flags(), serverSettings()...)
	r.jsonFlag(cmd, ", one setting per line")
	return cmd
}

func (r *runner) printSettings(c app.Config, origins app.Origins) error {
	type setting struct {
		Key    string `json:"key"`
		Value  string `json:"value"`
		Origin string `json:"origin"`
	}
	if err := writeEach(r.Out, c.Settings(), func(s app.Setting) setting {
		return setting{s.Key, s.Value(), origins[s.Key]}
	}); err != nil {
		return err
	}
	return writeJSON(r.Out, setting{"token", c.Token.String(), app.TokenEnv})
}

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
			c, err := r.config(cmd)
			if err != nil {
				return err
			}
			if !r.asJSON {
				_, err = io.WriteString(r.Out, c.YAML())
				return err
			}
			type setting struct {
				Key    string `json:"key"`
				Value  string `json:"value"`
				Origin string `json:"origin"`
			}
			for _, s := range c.Settings() {
				_ = writeJSON(r.Out, setting{s.Key, s.Value(), c.Origins[s.Key]})
			}
			return writeJSON(r.Out, setting{"token", c.Token.String(), app.TokenEnv})
		},
	}
	addServerSettings(cmd.Flags())
	return r.jsonFlag(cmd, ", one setting per line")
}

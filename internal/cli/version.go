package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion(r *runner) *cobra.Command {
	return r.jsonFlag(&cobra.Command{
		Use:   "version",
		Short: "Print the version of the program",
		Example: `  herbarium version
  herbarium version --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			type build struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}
			return r.print(build{Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH}, "%s", versionLine())
		},
	}, "")
}

// versionLine describes the program in one line.
func versionLine() string {
	return fmt.Sprintf("herbarium %s %s %s/%s", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// release is the version of a release build. The linker sets it; see tools/release.sh.
var release string

// Version returns the version of the build: that of the release, its tag, or else its commit.
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "development"
}

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
				Commit  string `json:"commit,omitempty"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}
			return r.print(build{Version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH}, "%s",
				versionLine())
		},
	}, "")
}

// versionLine describes the program in one line.
func versionLine() string {
	line := fmt.Sprintf("herbarium %s %s %s/%s", Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if c := commit(); c != "" {
		line += " commit " + c
	}
	return line
}

// The version and the commit of a release build. The linker sets them; see tools/release.sh.
var (
	release       string
	releaseCommit string
)

// commit returns the commit that the program was built from, with +modified if files had been
// changed. It is empty if it is unknown: 'go run' does not record it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if releaseCommit != "" || !ok {
		return releaseCommit
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if settings["vcs.modified"] == "true" {
		revision += "+modified"
	}
	return revision
}

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

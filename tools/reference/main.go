// Command reference writes the documentation that is generated from the commands: docs/cli.md and
// the man pages.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"herbarium/internal/cli"
	"herbarium/internal/cli/reference"
)

func main() {
	markdown := flag.String("markdown", "", "`file` to write the Markdown reference to")
	man := flag.String("man", "", "`folder` to write the man pages to")
	version := flag.String("version", cli.Version(), "`version` of the program in the man pages")
	flag.Parse()
	if err := run(*markdown, *man, *version); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(markdown, man, version string) error {
	if markdown != "" {
		if err := os.WriteFile(markdown, []byte(reference.Markdown(cli.NewRoot())), 0o644); err != nil {
			return err
		}
	}
	if man == "" {
		return nil
	}
	if err := os.MkdirAll(man, 0o755); err != nil {
		return err
	}
	for name, page := range reference.Man(cli.NewRoot(), version) {
		if err := os.WriteFile(filepath.Join(man, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herbarium/internal/app"
	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/file"
	"herbarium/internal/publish"
	"herbarium/internal/remote"
	"herbarium/internal/versions"
)

// remoteFlags are the flags of commands that can use a server instead of the data of this machine.
type remoteFlags struct {
	to, keyFile   string
	isKeyOptional bool // the command reads what open datasets show to everybody
}

// add adds the flags to a command. usage is the description of --to.
func (f *remoteFlags) add(cmd *cobra.Command, usage string) {
	stringFlag(cmd, &f.to, "to", usage, offer("https://"))
	stringFlag(cmd, &f.keyFile, "key-file", "`file` with the key for the server (default: the environment variable "+
		app.KeyEnv+")", offerPaths())
	setGroup(cmd.Flags(), groupRemote, "to", "key-file")
}

// given reports whether a command was told to use a server.
func (f remoteFlags) given(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("to") || cmd.Flags().Changed("key-file")
}

// client returns a client of the server that the flags name.
func (r *runner) client(cmd *cobra.Command, f remoteFlags) (*remote.Client, error) {
	if err := rejectLocal(cmd); err != nil {
		return nil, err
	}
	key, err := r.remoteKey(f)
	if err != nil {
		return nil, err
	}
	c, err := remote.New(remote.Options{
		URL: f.to, Key: key, UserAgent: "herbarium/" + Version(),
		Retrying: func(reason error, pause time.Duration) {
			fmt.Fprintf(r.Err, "%s; trying again in %s\n", escapeText(reason.Error()), pause)
		},
	})
	return c, usage(err)
}

// addServer adds the flags of a server to a command about one dataset, which calls run instead of
// using the data of this machine if they are given.
func (r *runner) addServer(cmd *cobra.Command, server remoteFlags,
	run func(ctx context.Context, c *remote.Client, ref herb.Ref) error) {
	server.add(cmd, "use the server at this `URL` instead of the data of this machine")
	local := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !server.given(cmd) {
			return local(cmd, args)
		}
		ref, err := herb.ParseRef(args[0])
		if err != nil {
			return usage(err)
		}
		c, err := r.client(cmd, server)
		if err != nil {
			return err
		}
		if _, err := r.config(cmd); err != nil {
			return err
		}
		return run(cmd.Context(), c, ref)
	}
}

// rejectLocal fails if a flag was given that only concerns data of this machine.
func rejectLocal(cmd *cobra.Command) error {
	for _, name := range []string{"data", "database", "blobs", "keep", "keep-for", "cache-size", "retention"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return usagef("--%s concerns data of this machine; it cannot be combined with --to", name)
		}
	}
	return nil
}

// remoteKey returns the key for a server; empty if none is given and it is optional. There is no
// flag with the key itself, because other users of a machine can see command lines.
func (r *runner) remoteKey(flags remoteFlags) (string, error) {
	const maxKey = 4 << 10
	path := flags.keyFile
	key, _ := r.Env(app.KeyEnv)
	origin := app.KeyEnv
	if path != "" {
		f, err := os.Open(path)
		if err != nil {
			return "", usagef("cannot read the key: %w", err)
		}
		defer f.Close()
		content, err := io.ReadAll(io.LimitReader(f, maxKey))
		if err != nil {
			return "", usagef("cannot read the key: %w", err)
		}
		key, origin = string(content), path
	}
	switch key = strings.TrimSpace(key); {
	case key == "" && path != "":
		return "", usagef("%s is empty; write the key into it", path)
	case key == "" && !flags.isKeyOptional:
		return "", usagef("a server requires a key; set the environment variable %s, or name a file with --key-file",
			app.KeyEnv)
	case strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "", usagef("%s is not a key: it has characters other than letters, digits and signs", origin)
	}
	return key, nil
}

// remotePublisher publishes sources of this machine to a server.
type remotePublisher struct{ client *remote.Client }

// Publish implements publisher.
func (p remotePublisher) Publish(ctx context.Context, s descriptor.Source, opts publish.Options) (_ versions.Result,
	err error) {
	defer s.Release()
	f, closeFile, err := remoteFile(s)
	if err != nil {
		return versions.Result{}, err
	}
	defer func() { err = errors.Join(err, closeFile()) }()
	if opts.Check {
		f.Params["_check"] = "true"
	}
	for _, c := range opts.Consents {
		f.Params[c.Parameter()] = "true"
	}
	if opts.Force {
		f.Params["_force"] = "true"
	}
	if opts.Message != "" {
		f.Params["_message"] = opts.Message
	}
	return p.client.Publish(ctx, f, opts.Progress)
}

// remoteFile returns what is sent to publish a source: its file, and the settings as parameters or
// as a descriptor.
func remoteFile(s descriptor.Source) (f remote.File, closeFile func() error, err error) {
	if len(s.MoreFiles) > 0 {
		return f, nil, herb.Invalidf(
			"%s has %d files, and one can be sent; combine them, or publish them on the machine of the server", s.Ref,
			len(s.MoreFiles)+1)
	}
	f = remote.File{Ref: s.Ref, Descriptor: s.Settings.Descriptor, Params: map[string]string{}}
	if s.AccessSet {
		f.Params["_access"] = string(cmp.Or(s.Access, herb.AccessOpen))
	}
	if f.Descriptor == nil {
		for _, name := range herb.ReadingNames() {
			value := *s.Settings.Reading.Member(name)
			if value != "" {
				f.Params["_"+name] = value
			}
		}
	}
	if s.Input == nil {
		f.Name = filepath.Base(s.Path)
		f.Content, closeFile, err = openSource(s)
		return f, closeFile, err
	}
	// Records in a descriptor are sent as a file: the settings do not have them. Standard input has
	// no name.
	f.Content = s.Input
	switch {
	case s.Fetch.Address != "":
		f.Name = s.DisplayName
	case f.Descriptor != nil:
		f.Name = s.Ref.Name + "." + cmp.Or(s.Format, "json")
	}
	return f, func() error { return nil }, nil
}

// openSource opens the file of a source.
func openSource(s descriptor.Source) (content *io.SectionReader, closeFile func() error, err error) {
	dir, err := s.OpenDir()
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	// A database that is in use has changes in other files, which would not be sent.
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := dir.Stat(s.Path + suffix); err == nil && info.Size() > 0 &&
			(s.Format == "sqlite" || s.Format == "") {
			return nil, nil, herb.Invalidf(
				"%s has changes in %s, which would be lost; close the programs that use the database, or send a copy "+
					"made with VACUUM INTO",
				s.Path, filepath.Base(s.Path+suffix))
		}
	}
	info, err := dir.Stat(s.Path)
	if err != nil {
		return nil, nil, file.CannotRead(s.Path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, file.CannotRead(s.Path, file.ErrNotRegular) // opening a pipe blocks
	}
	f, err := dir.Open(s.Path)
	if err != nil {
		return nil, nil, file.CannotRead(s.Path, err)
	}
	info, err = f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return io.NewSectionReader(f, 0, info.Size()), f.Close, nil
}

// Package versionstest opens libraries together with the services that change their versions, alone
// or as a cluster with an object store that can fail, for tests.
package versionstest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"herbarium/internal/filesystem"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/versions"
)

// Catalogue is the catalogue of a Node.
type Catalogue interface {
	library.Catalogue
	versions.Catalogue
}

// Options has the options of a library and of its versions.
type Options struct {
	Dir          string
	Plants       library.Mutable
	PlantsAccess herb.Access
	Keep         int
	KeepFor      time.Duration
	Now          func() time.Time
	Log          *slog.Logger
	Program      string
	Memory       int
	FS           filesystem.FS
	OpenSize     int
	SummarySize  int
	Blobs        versions.Blobs
	CacheSize    int64
	Retention    time.Duration
	Wait         time.Duration
	Free         func(dir string) (free, total uint64, ok bool)
}

// Node is a library with the service that changes its versions.
type Node struct {
	*library.Library
	*versions.Service
}

// Open opens a library.
func Open(c Catalogue, o Options) (*Node, error) {
	opts := library.Options{
		Dir: o.Dir, Plants: o.Plants, PlantsAccess: o.PlantsAccess, Now: o.Now, Log: o.Log, Program: o.Program,
		Memory: o.Memory, FS: o.FS,
		OpenSize: o.OpenSize, SummarySize: o.SummarySize, CacheSize: o.CacheSize, Wait: o.Wait, Free: o.Free,
	}
	if o.Blobs != nil {
		opts.Blobs = o.Blobs
	}
	l, err := library.Open(c, opts)
	if err != nil {
		return nil, err
	}
	return &Node{l, versions.New(c, l, versions.Options{
		Dir: o.Dir, Blobs: o.Blobs, Keep: herb.Keep{Versions: o.Keep, For: o.KeepFor}, Now: o.Now, Log: o.Log,
		Program: o.Program, Memory: o.Memory, FS: o.FS, Retention: o.Retention,
	})}, nil
}

// Run runs the library and its garbage collection until ctx is done.
func (n *Node) Run(ctx context.Context) error {
	var collecting sync.WaitGroup
	defer collecting.Wait()
	collected := make(chan error, 1)
	collecting.Go(func() { collected <- n.Service.Run(ctx) })
	return errors.Join(n.Library.Run(ctx), <-collected)
}

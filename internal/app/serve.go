package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/ingest"
	"herbarium/internal/plants"
	"herbarium/internal/telemetry"
	"herbarium/internal/web"
)

// ServeOptions of a server beside its configuration.
type ServeOptions struct {
	Sources []ingest.Source // to publish before serving
	Watch   []string        // files and folders to publish from again whenever they change
	Log     *slog.Logger
	Version string // of the program
	// Ready is called once, when requests are answered. nil: nobody is told.
	Ready func(ctx context.Context, addr net.Addr, datasets []herb.Dataset)
	// NotifySocket is where a service manager wants to be told that the server is ready, and that it stops. Empty: nowhere.
	NotifySocket string
}

// Serve runs a server until ctx ends and then finishes what it has accepted.
func Serve(ctx context.Context, c Config, opts ServeOptions) (err error) {
	// Bind first: a port that is taken should be known before a long publish, not after it.
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	LimitMemory(c.memory())
	data, err := openData(ctx, c, opts.Log, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if err := data.tolerate(data.migrate(ctx), opts.Log); err != nil {
		return err
	}
	var follow func(context.Context) error
	if len(opts.Watch) > 0 { // what changes from here on is published again, even if that happens before it is first read
		follow = data.follow(opts.Watch, opts.Log).Run
	}
	if err := data.prepare(ctx, opts); err != nil {
		return err
	}
	defer collectLessOften()()
	return data.serve(ctx, listener, c, opts, follow)
}

// servingGC is the GC percentage of a server. It keeps so little in memory, a few MiB, that at Go's 100 it would be
// collecting garbage after every few hundred requests: a fifth of its processor time. 800 costs some 30 MiB instead.
const servingGC = 800

// collectLessOften sets servingGC, unless the environment has a say, and returns how to undo it.
func collectLessOften() (undo func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(servingGC)
	return func() { debug.SetGCPercent(before) }
}

// prepare brings the data folder up to date. A source that cannot be published is reported and does not keep the rest
// from being served.
func (d *Data) prepare(ctx context.Context, opts ServeOptions) error {
	if err := d.Library.Sweep(ctx); err != nil {
		opts.Log.Warn("leftovers of earlier runs were not removed", "err", err)
	}
	if d.shared == nil { // the files of other machines cannot be looked for here
		if err := d.removeStaleSourceErrors(ctx, opts.Log); err != nil {
			return err
		}
	}
	for _, s := range opts.Sources {
		if err := d.publishOne(ctx, s, opts.Log); ctx.Err() != nil {
			return err
		}
	}
	return d.tolerate(d.Library.Refresh(ctx), opts.Log)
}

// tolerate lets a node start while what it shares with others is away: it recovers by itself, and may have files to list.
func (d *Data) tolerate(err error, log *slog.Logger) error {
	if d.shared != nil && herb.CodeOf(err) == herb.CodeUnavailable {
		log.Error("the server starts without its database", "err", err)
		return nil
	}
	return err
}

// serve answers requests on a listener until ctx ends. The parts that requests depend on are stopped only when the last
// request is finished.
func (d *Data) serve(ctx context.Context, listener net.Listener, c Config, opts ServeOptions, follow func(context.Context) error) error {
	creation := plants.Options{}
	if d.shared != nil {
		creation.Available = d.shared.Available
	}
	creator := plants.New(d.Store, creation)
	verifier := access.NewVerifier(d.Store, access.Options{Token: string(c.Token), Log: opts.Log})
	metrics := telemetry.NewMetrics(opts.Version, d.Library.Datasets)
	lanes, err := admission.New(admission.Options{
		Limits:   c.limits(),
		Rejected: func(l admission.Lane, r admission.Reason) { metrics.Rejected(l.String(), string(r)) },
	})
	if err != nil {
		return err
	}
	opts.Log.Debug("limits", "lanes", c.limits(), "memory", formatSize(c.memory()), "connections", maxConnections(maxDescriptors()))
	for _, l := range admission.Lanes() {
		metrics.Lane(l.String(), lanes.Slots(l), func() int { return lanes.InFlight(l) })
	}
	health := d.monitor(opts.Log, metrics.Part)
	pages, err := web.New(web.Options{
		Library: limitedLibrary{d.Library, lanes}, Keys: verifier, SourceErrors: d.sourceErrors, PublicURL: c.PublicURL, Version: opts.Version,
	})
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Options{
		Library:        d.Library,
		Plants:         creator,
		Keys:           verifier,
		Pages:          pages,
		PublicURL:      c.PublicURL,
		Health:         health.Health,
		Admission:      lanes,
		RequestTimeout: c.RequestTimeout,
		Version:        opts.Version,
		Log:            opts.Log,
		Observe: func(o httpapi.Observation) {
			metrics.Request(o.Method, o.Route, o.Status, o.Bytes, o.Took)
		},
	})
	if err != nil {
		return err
	}
	stopAdmin, err := serveAdmin(ctx, c.AdminAddr, metrics.Handler(), opts.Log)
	if err != nil {
		return err
	}
	defer stopAdmin()
	parts, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	for name, run := range map[string]func(context.Context) error{
		"plants": creator.Run, "keys": verifier.Run, "library": d.Library.Run, "watch": follow,
		"health": health.Run, "uploads": d.abortUploads(opts.Log),
	} {
		if run == nil {
			continue
		}
		running.Go(func() {
			if err := run(parts); err != nil {
				opts.Log.Error("a part of the server failed", "part", name, "err", err)
			}
		})
	}
	defer running.Wait()
	defer stopParts()

	server := httpapi.NewServer(api, opts.Log)
	limited := httpapi.Listener(listener, httpapi.ListenerOptions{MaxConnections: maxConnections(maxDescriptors()), Log: opts.Log})
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	if opts.Ready != nil {
		datasets, err := d.Library.Datasets(ctx)
		if err := d.tolerate(err, opts.Log); err != nil {
			return errors.Join(err, server.Close())
		}
		opts.Ready(ctx, listener.Addr(), datasets)
	}
	notify(ctx, opts, notifyReady)
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	opts.Log.Info("stopping; accepted requests are finished first", "cause", context.Cause(ctx))
	notify(context.WithoutCancel(ctx), opts, notifyStopping)
	health.stop()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-time.After(c.Drain): // those who send requests find out that they should not
	}
	stopBy, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown)
	defer cancel()
	if err := server.Shutdown(stopBy); err != nil {
		return errors.Join(fmt.Errorf("requests were cut off after %s: %w", c.Shutdown, err), server.Close())
	}
	return nil
}

// serveAdmin serves metrics and profiles on an address of their own; on an empty one, nothing. It returns how to stop it.
func serveAdmin(ctx context.Context, addr string, handler http.Handler, log *slog.Logger) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	listener, err := listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	log.Info("metrics and profiles", "url", "http://"+listener.Addr().String()+"/metrics")
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics and profiles are no longer served", "err", err)
		}
	}()
	return func() { _ = server.Close() }, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, herb.Wrap(herb.CodeUnavailable, err, "cannot listen on %s", addr)
	}
	return l, nil
}

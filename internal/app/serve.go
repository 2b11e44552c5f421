// Package app assembles the program: from a configuration to a running server.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"herbarium/internal/httpapi/connection"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/descriptor"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/publish"
)

// ServeOptions configures a server in addition to Config.
type ServeOptions struct {
	Found   descriptor.Set   // published before serving
	Finder  *discover.Finder // finds the sources in Watch
	Watch   []string         // files and folders to publish whenever they change
	Log     *slog.Logger
	Version string // of the program
	// Ready is called once the server accepts requests, with some datasets and the number of all.
	// nil disables it.
	Ready func(addr net.Addr, datasets []herb.Dataset, total int)
	// NotifySocket is the socket of the service manager for readiness and shutdown. Empty disables
	// it.
	NotifySocket string
}

// Serve runs a server until ctx is done and then finishes accepted requests.
func Serve(ctx context.Context, c Config, opts ServeOptions) (err error) {
	// Bind first, so that a port in use is reported before a long publish, not after it.
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	defer listener.Close()
	// the runtime may exceed its limit for a moment, and there is memory that it does not count
	LimitMemory(c.memory() / 8 * 7)
	exists, err := c.HasData()
	if err != nil {
		return err
	}
	data, err := openData(ctx, c, OpenOptions{Log: opts.Log, Program: opts.Version, Upgraded: func(from, to int) {
		opts.Log.Info("database schema upgraded", "from", from, "to", to)
	}}, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if !exists {
		opts.Log.Info("created data folder", "path", c.Data)
	}
	if err := data.tolerateUnavailable(data.migrate(ctx), opts.Log); err != nil {
		return err
	}
	var watcher *publish.Watcher
	if len(opts.Watch) > 0 { // changes from here on are published, even those before the first read
		watcher = data.Watch(opts.Finder, opts.Watch, opts.Found)
	}
	return data.serve(ctx, listener, c, opts, watcher)
}

// tolerateUnavailable lets a node start while its shared database is down: it recovers by itself
// and may have cached files to list.
func (d *Data) tolerateUnavailable(err error, log *slog.Logger) error {
	if d.shared != nil && herb.CodeOf(err) == herb.CodeUnavailable {
		log.Error("database down; starting without it", "err", err)
		return nil
	}
	return err
}

// serve prepares the data and serves requests on a listener until ctx is done. Until the data is
// prepared, only probes and metrics are served. Background tasks are stopped after the last
// request.
func (d *Data) serve(ctx context.Context, listener net.Listener, c Config, opts ServeOptions,
	watcher *publish.Watcher) error {
	defer startGCHeadroom(c.memory())()
	parts, err := d.assemble(c, opts, watcher)
	if err != nil {
		return err
	}
	defer parts.stopPublishes() // after the last request, and before the data is closed
	stopAdmin, err := serveAdmin(ctx, c.AdminAddr, parts.metrics, opts.Log)
	if err != nil {
		return err
	}
	defer stopAdmin()
	return parts.run(ctx, listener)
}

// run serves requests until ctx is done, and background tasks until the last request has ended.
func (p *components) run(ctx context.Context, listener net.Listener) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	start := func(name string, task func(context.Context) error) {
		running.Go(func() {
			if err := task(background); err != nil {
				p.opts.Log.Error("background task failed", "part", name, "err", err)
			}
		})
	}
	defer running.Wait()
	defer stop()
	start("health", p.health.Run)

	server := connection.NewServer(p.api, p.opts.Log)
	limited := connection.Listener(listener, maxConnections(MaxDescriptors(), p.config.memory()))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	switch err := p.data.prepare(ctx, p.opts, p.starting, p.watcher); {
	case ctx.Err() != nil: // probes may have been accepted already
	case err != nil:
		return errors.Join(err, server.Close())
	default:
		for name, task := range p.tasks {
			start(name, task)
		}
		p.starting.end()
		if err := p.data.announce(ctx, listener.Addr(), p.opts); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	return p.shutDown(ctx, server, failed)
}

// shutDown finishes accepted requests. failed receives the error of a server that stops by itself.
func (p *components) shutDown(ctx context.Context, server *http.Server, failed <-chan error) error {
	p.opts.Log.Info("stopping; finishing accepted requests", "cause", context.Cause(ctx))
	notify(context.WithoutCancel(ctx), p.opts, "STOPPING=1")
	p.health.stop()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-time.After(p.config.Drain): // load balancers notice that the server is not ready
	}
	p.stopPublishes() // clients that wait for the result of a publish are told
	stopBy, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.config.Shutdown)
	defer cancel()
	if err := server.Shutdown(stopBy); err != nil {
		p.opts.Log.Warn("requests aborted; they took longer than shutdown", "shutdown", p.config.Shutdown, "err", err)
		return server.Close()
	}
	return nil
}

// serveAdmin serves metrics and profiles on their own address, unless it is empty. It returns a
// function that stops it.
func serveAdmin(ctx context.Context, addr string, handler http.Handler, log *slog.Logger) (stop func(), err error) {
	if addr == "" {
		return func() {}, nil
	}
	listener, err := listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	log.Info("serving metrics and profiles", "url", "http://"+listener.Addr().String()+"/metrics")
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serving metrics and profiles failed", "err", err)
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

// Reachable returns the host and port of an address to listen on for use in a URL. An unspecified
// host becomes localhost.
func Reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// NotifyEnv is the environment variable with the socket of the service manager, as in the systemd
// protocol.
const NotifyEnv = "NOTIFY_SOCKET"

// notify sends the state of the server to the service manager, if there is one. A name that begins
// with @ is in the abstract namespace of Linux, which Go writes alike. Failures are only logged:
// the service manager decides what to do without the message.
func notify(ctx context.Context, opts ServeOptions, state string) {
	if opts.NotifySocket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", opts.NotifySocket)
	if err == nil {
		defer conn.Close()
		_, err = conn.Write([]byte(state))
	}
	if err != nil {
		opts.Log.Warn("cannot notify service manager", "state", state, "err", err)
	}
}

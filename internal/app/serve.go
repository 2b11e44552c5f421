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
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/source"
	"herbarium/internal/jobs"
	"herbarium/internal/library"
	"herbarium/internal/plants"
	"herbarium/internal/publish"
	"herbarium/internal/review"
	"herbarium/internal/upload"
	"herbarium/internal/versions"
	"herbarium/internal/web"
)

// ServeOptions configures a server in addition to Config.
type ServeOptions struct {
	Found   source.Set       // published before serving
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
	LimitMemory(c.memory() / 8 * 7) // the runtime may exceed its limit for a moment, and there is memory that it does not count
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
func (d *Data) serve(ctx context.Context, listener net.Listener, c Config, opts ServeOptions, watcher *publish.Watcher) error {
	gc := relaxGC(c.memory()) // publishing many small sources allocates much with a small heap
	defer gc.stop()
	starting := newStartup(d.concealed)
	observed := d.observe(c, opts.Version, starting, watcher)
	verifier := countedKeys{access.NewVerifier(d.Store, access.Options{Token: string(c.Token), Log: opts.Log}), observed.KeyRejected}
	budget := admission.NewBudget(admission.DefaultBudget(c.memory()), func() { observed.Rejected("buffers", string(admission.ReasonFull)) })
	observed.Buffered(budget.Limit(), budget.Used)
	lanes, err := admission.New(admission.Options{
		Limits:   c.limits(),
		Budget:   budget,
		Rejected: func(l admission.Lane, r admission.Reason) { observed.Rejected(l.String(), string(r)) },
		Waited:   func(l admission.Lane, took time.Duration) { observed.Waited(l.String(), took) },
	})
	if err != nil {
		return err
	}
	slots := map[string]int{}
	for _, l := range admission.Lanes() {
		slots[l.String()] = lanes.Slots(l)
		observed.Lane(l.String(), lanes.Slots(l), func() int { return lanes.InFlight(l) })
		observed.Rejections(l.String(), words(admission.Reasons())...)
	}
	opts.Log.Debug("limits", "lanes", slots, "memory", formatSize(c.memory()), "connections", maxConnections(MaxDescriptors(), c.memory()))
	health := d.monitor(opts.Log, starting, observed.Part)
	served, history := d.served(c)
	site := httpapi.Site{Library: served, PrivateCatalog: c.hasPrivateCatalog(), PublicURL: c.PublicURL, Version: opts.Version}
	tasks := map[string]func(context.Context) error{
		"keys": verifier.Run, "library": d.Library.Run, "garbage collection": d.Versions.Run,
	}
	if watcher != nil {
		tasks["watch"] = watcher.Run
	}
	var creator httpapi.Plants // nil without a plant store
	if d.Plants != nil {
		creation := plants.Options{}
		if d.shared != nil {
			creation.Available = d.shared.Available
		}
		service := plants.New(d.Store, creation)
		creator, tasks["plants"], tasks["plants index"] = service, service.Run, d.Plants.Run
	}
	var services *publishing.Services // nil if publishing over HTTP is off
	paged := web.Options{Site: site, History: history, SourceErrors: d.Publisher.SourceErrors, Folder: d.Publisher.Folder}
	stopJobs := func() {}
	if c.MaxUpload > 0 {
		files := upload.New(upload.Options{Dir: c.Data, MaxSize: c.MaxUpload})
		service := jobs.New(jobs.Options{
			Publisher: d.Publisher, Library: d.Library, Versions: d.Versions, Store: d.Store, Files: files, Dir: c.Data, Log: opts.Log, Admission: lanes,
			Observe: func(s publish.Status, took time.Duration) {
				observed.Published(string(publish.WayHTTP), string(s), took)
			},
		})
		observed.Publishes(string(publish.WayHTTP), words(publish.Statuses()), service.Waiting)
		reviews := review.New(review.Options{Jobs: service, Library: d.Library, Versions: d.Versions, Store: d.Store, Access: c.Access, Log: opts.Log})
		stopJobs = func() {
			service.Stop()
			reviews.Stop()
		}
		defer stopJobs() // after the last request, and before the data is closed
		services = &publishing.Services{Files: files, Jobs: service, Versions: d.Versions, Publisher: d.Publisher}
		tasks["jobs"] = service.Run
		paged.Files, paged.Drafts, paged.Versions, paged.Publisher = files, reviews, d.Versions, d.Publisher
	}
	pages, err := web.New(paged)
	if err != nil {
		return err
	}
	api, err := httpapi.New(httpapi.Options{
		Site:           site,
		Publishing:     services,
		Plants:         creator,
		Keys:           verifier,
		Pages:          pages,
		TrustedProxies: c.TrustedProxies,
		Health:         health.Health,
		Starting:       starting.await,
		Admission:      lanes,
		RequestTimeout: c.RequestTimeout,
		Log:            opts.Log,
		Observe: func(o response.Observation) {
			gc.requests.Add(1)
			observed.Request(o.Method, o.Route, o.Status, o.Bytes, o.Took)
		},
	})
	if err != nil {
		return err
	}
	stopAdmin, err := serveAdmin(ctx, c.AdminAddr, observed.Handler(), opts.Log)
	if err != nil {
		return err
	}
	defer stopAdmin()
	parts, stopParts := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	run := func(name string, task func(context.Context) error) {
		running.Go(func() {
			if err := task(parts); err != nil {
				opts.Log.Error("background task failed", "part", name, "err", err)
			}
		})
	}
	defer running.Wait()
	defer stopParts()
	run("health", health.Run)

	server := connection.NewServer(api, opts.Log)
	limited := connection.Listener(listener, maxConnections(MaxDescriptors(), c.memory()))
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	switch err := d.prepare(ctx, opts, starting); {
	case ctx.Err() != nil: // probes may have been accepted already
	case err != nil:
		return errors.Join(err, server.Close())
	default:
		for name, task := range tasks {
			run(name, task)
		}
		starting.end()
		if err := d.announce(ctx, listener.Addr(), opts); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	opts.Log.Info("stopping; finishing accepted requests", "cause", context.Cause(ctx))
	notify(context.WithoutCancel(ctx), opts, "STOPPING=1")
	health.stop()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-time.After(c.Drain): // load balancers notice that the server is not ready
	}
	stopJobs() // clients that wait for the result of a publish are told
	stopBy, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Shutdown)
	defer cancel()
	if err := server.Shutdown(stopBy); err != nil {
		opts.Log.Warn("requests aborted; they took longer than shutdown", "shutdown", c.Shutdown.String(), "err", err)
		return server.Close()
	}
	return nil
}

// hasPrivateCatalog reports whether names, titles, fields and counts of datasets that require a key
// are visible to key holders only.
func (c Config) hasPrivateCatalog() bool { return c.Catalog == herb.AccessKey }

// served returns the library and the history of datasets as clients see them.
func (d *Data) served(c Config) (gate.Library, func(context.Context, herb.Ref) ([]versions.Version, error)) {
	if c.hasPrivateCatalog() {
		return library.Private{Library: d.Library}, d.Versions.VisibleHistory
	}
	return d.Library, d.Versions.History
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

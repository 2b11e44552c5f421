package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"herbarium/internal/access"
	"herbarium/internal/admission"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi"
	"herbarium/internal/httpapi/gate"
	"herbarium/internal/httpapi/publishing"
	"herbarium/internal/httpapi/response"
	"herbarium/internal/library"
	"herbarium/internal/plants"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
	"herbarium/internal/telemetry"
	"herbarium/internal/versions"
	"herbarium/internal/web"
	"herbarium/internal/webhooks"
)

// components are the parts of a server, before it runs.
type components struct {
	data          *Data
	config        Config
	opts          ServeOptions
	starting      *startup
	watcher       *publish.Watcher // nil: no files are watched
	health        *monitor
	metrics       http.Handler
	api           http.Handler
	tasks         map[string]func(context.Context) error // in the background, once the data is prepared
	stopPublishes func()                                 // stops publishes over HTTP; may be called more than once
}

// assemble creates the parts of a server.
func (d *Data) assemble(c Config, opts ServeOptions, watcher *publish.Watcher) (*components, error) {
	starting := newStartup(d.concealed)
	observed := d.observe(c, opts.Version, starting, watcher)
	lanes, err := c.newLanes(observed, opts.Log)
	if err != nil {
		return nil, err
	}
	verifier := countedKeys{access.NewVerifier(d.Store, access.Options{Token: string(c.Token), Log: opts.Log}),
		observed.KeyRejected}
	p := &components{
		data: d, config: c, opts: opts, starting: starting, watcher: watcher, metrics: observed.Handler(),
		health: d.monitor(opts.Log, starting, observed.SetDependency),
		tasks: map[string]func(context.Context) error{"keys": verifier.Run, "library": d.Library.Run,
			"garbage collection": d.Versions.Run, "freshness": d.announceOverdue},
		stopPublishes: func() {},
	}
	if watcher != nil {
		p.tasks["watch"] = watcher.Run
	}
	p.tasks["webhooks"] = webhooks.New(webhooks.Options{
		Store: d.Store, Sender: webhooks.NewSender(webhooks.SenderOptions{Program: "Herbarium/" + opts.Version}),
		PublicURL: c.PublicURL, Log: opts.Log,
		Observe: func(o webhooks.Outcome) { observed.WebhookAttempt(string(o)) },
	}).Run
	served, history := d.served(c)
	site := httpapi.Site{Library: served, History: history, PrivateCatalog: c.hasPrivateCatalog(),
		PublicURL: c.PublicURL, Agents: c.MCP == on, Version: opts.Version, Changes: d.Versions.Comparisons()}
	paged := web.Options{Site: site, SourceErrors: d.Publisher.SourceErrors, Folder: d.Publisher.Folder}
	services := p.addPublishing(lanes, observed, &paged)
	pages, err := web.New(paged)
	if err != nil {
		return nil, err
	}
	p.api, err = httpapi.New(httpapi.Options{
		Site:           site,
		Publishing:     services,
		Plants:         p.addPlants(),
		Keys:           verifier,
		Pages:          pages,
		TrustedProxies: c.TrustedProxies,
		Health:         p.health.Health,
		Starting:       starting.await,
		Admission:      lanes,
		RequestTimeout: c.RequestTimeout,
		Log:            opts.Log,
		Observe: func(o response.Observation) {
			observed.Request(o.Method, o.Route, o.Status, o.Bytes, o.Took)
			if o.Tool != "" {
				observed.ToolCall(o.Tool, o.ToolStatus)
			}
		},
	})
	return p, err
}

// newLanes returns the admission control of a server, whose lanes are observed.
func (c Config) newLanes(observed *telemetry.Metrics, log *slog.Logger) (*admission.Controller, error) {
	budget := admission.NewBudget(admission.DefaultBudget(c.memory()),
		func() { observed.Rejected("buffers", string(admission.ReasonFull)) })
	observed.Buffered(budget.Limit(), budget.Used)
	lanes, err := admission.New(admission.Options{
		Limits:   c.limits(),
		Budget:   budget,
		Rejected: func(l admission.Lane, r admission.Reason) { observed.Rejected(l.String(), string(r)) },
		Waited:   func(l admission.Lane, took time.Duration) { observed.Waited(l.String(), took) },
	})
	if err != nil {
		return nil, err
	}
	slots := map[string]int{}
	for _, l := range admission.Lanes() {
		slots[l.String()] = lanes.Slots(l)
		observed.Lane(l.String(), lanes.Slots(l), func() int { return lanes.InFlight(l) })
		observed.Rejections(l.String(), words(admission.Reasons())...)
	}
	log.Debug("limits", "lanes", slots, "memory", formatSize(c.memory()), "connections",
		maxConnections(MaxDescriptors(), c.memory()))
	return lanes, nil
}

// addPlants adds the plant store, or returns nil if there is none.
func (p *components) addPlants() httpapi.Plants {
	if p.data.Plants == nil {
		return nil
	}
	creation := plants.Options{}
	if p.data.shared != nil {
		creation.Available = p.data.shared.Available
	}
	service := plants.New(p.data.Store, creation)
	p.tasks["plants"], p.tasks["plants index"] = service.Run, p.data.Plants.Run
	return service
}

// addPublishing adds publishing over HTTP for the API and the pages, or returns nil if it is off.
func (p *components) addPublishing(lanes *admission.Controller, observed *telemetry.Metrics,
	paged *web.Options) *publishing.Services {
	d, c := p.data, p.config
	if c.MaxUpload <= 0 {
		return nil
	}
	files := receive.New(receive.Options{Dir: c.Data, MaxSize: c.MaxUpload})
	queue := publish.NewQueue(publish.QueueOptions{
		Publisher: d.Publisher, Library: d.Library, Versions: d.Versions, Store: d.Store, Files: files, Dir: c.Data,
		Log: p.opts.Log, Admission: lanes,
		Observe: func(s versions.Status, took time.Duration) {
			observed.Published(string(publish.WayHTTP), string(s), took)
		},
	})
	observed.Publishes(string(publish.WayHTTP), words(versions.Statuses()), queue.Waiting)
	reviews := review.New(review.Options{Queue: queue, Library: d.Library, Versions: d.Versions, Store: d.Store,
		Access: c.Access, Log: p.opts.Log})
	p.stopPublishes = func() {
		queue.Stop()
		reviews.Stop()
	}
	p.tasks["publishes"] = queue.Run
	fetches := p.addFetches(files, queue, observed)
	paged.Fetches = fetches
	paged.Files, paged.Drafts, paged.Versions, paged.Publisher = files, reviews, d.Versions, d.Publisher
	return &publishing.Services{Files: files, Queue: queue, Versions: d.Versions, Publisher: d.Publisher,
		Fetches: fetches}
}

// addFetches adds what fetches files from other servers.
func (p *components) addFetches(files *receive.Receiver, queue *publish.Queue,
	observed *telemetry.Metrics) *fetch.Service {
	d, c := p.data, p.config
	client := c.newFetchClient(files, p.opts.Version)
	d.Publisher.Fetch = client.Fetch
	service := fetch.New(fetch.Options{
		Store: d.Store, Client: client, Queue: queue, Live: d.Library.Live, LiveVersion: d.Versions.LiveVersion,
		Log: p.opts.Log, Observe: func(o fetch.Outcome) { observed.Fetched(string(o)) },
	})
	observed.Fetches(words(fetch.Outcomes()), func(ctx context.Context) (failing int, err error) {
		states, err := service.States(ctx, herb.Ref{})
		for _, s := range states {
			if s.Failures > 0 {
				failing++
			}
		}
		return failing, err
	})
	p.tasks["fetches"] = service.Run
	return service
}

// newFetchClient returns the client of a server that fetches from the hosts of the settings, which
// were checked when they were read.
func (c Config) newFetchClient(files *receive.Receiver, program string) *fetch.Client {
	hosts, _ := fetch.ParseHosts(c.FetchHosts)
	credentials, _ := fetch.ParseCredentials(c.Credentials)
	return fetch.NewClient(fetch.ClientOptions{Hosts: hosts, Files: files, Credentials: credentials,
		Program: "Herbarium/" + program})
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

package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/programtest"
	"herbarium/internal/versions"
)

// TestServe_releasesVersions checks that no request keeps a version open: its file would occupy the
// disk after it was deleted.
func TestServe_releasesVersions(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	c := DefaultConfig()
	c.Data = t.TempDir()
	d, err := openData(t.Context(), c, OpenOptions{Log: log}, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ref := herb.Ref{Namespace: "garden", Name: "trees"}
	published, err := d.Versions.Publish(t.Context(), versions.Publication{
		Dataset: herb.Dataset{Ref: ref, Access: herb.AccessOpen, Details: herb.Details{PrimaryKey: []string{"id"}},
			Fields: []herb.Field{
				{Name: "id", Type: herb.TypeText, Filterable: true},
				{Name: "height", Type: herb.TypeNumber, Filterable: true, Sortable: true},
				{Name: "width", Type: herb.TypeNumber, Filterable: true, Sortable: true},
			}},
		Records: func(yield func(herb.Record, error) bool) { yield(herb.Record{"oak", "40", "2"}, nil) },
	})
	if err != nil {
		t.Fatal(err)
	}
	view, err := d.Library.Acquire(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Release()
	reader := view.Reader
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	ready := make(chan struct{})
	opts := ServeOptions{Log: log, Ready: func(net.Addr, []herb.Dataset, int) { close(ready) }}
	go func() { served <- d.serve(ctx, listener, c, opts, nil) }()
	<-ready
	before := reader.References()
	api := "/api/v1/garden/trees"
	version, unknown := "_version="+published.Version, "_version=20000101T000000Z-aaaaaaaaaa"
	for path, status := range map[string]int{
		api: 200, api + "/data": 200, api + "/data?" + version: 200, api + "/data?height[gt]=1&sort=height": 200,
		api + "/data/oak": 200,
		api + "/data.csv": 200, api + "/data.xlsx": 200, api + "/facets?field=height": 200,
		api + "/grid?_x=height&_y=width&_bounds=0,0,50,50&_columns=2&_rows=2": 200,
		"/openapi.json": 200, "/api/v1/search?search=oak": 200, "/datasets/garden/trees": 200,
		"/datasets/garden/trees?" + version: 200,
		"/?search=oak":                      200,
		// Requests that fail after the version was acquired.
		api + "/data?no=1": 400, api + "/data?" + version + "&no=1": 400, api + "/data?_version=no!": 400,
		api + "/data?" + unknown: 410,
		api + "/data/elm":        404, api + "/data.csv?page=2": 400, api + "/facets": 400, api + "/grid": 400,
		"/datasets/garden/trees?no=1": 400, "/datasets/garden/trees?" + unknown: 410,
		"/datasets/garden/trees?_version=no!": 400,
	} {
		for range 3 { // so that a version that is released twice would be closed
			res, err := programtest.Send(t.Context(), http.DefaultClient, http.MethodGet,
				"http://"+listener.Addr().String()+path, "")
			if err != nil || res.Status != status {
				t.Errorf("%s: status %d, %v; want %d", path, res.Status, err, status)
			}
		}
	}
	cancel()
	if err := <-served; err != nil { // all requests have ended
		t.Fatal(err)
	}
	if after := reader.References(); after != before {
		t.Errorf("the version had %d references before the requests and has %d afterwards", before, after)
	}
}

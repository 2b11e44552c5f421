//go:build linux

package systemtest

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"herbarium/internal/blobs/s3test"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
	"herbarium/internal/store/pgtest"
)

// heldResponse is a response that ends when the test wants it to.
type heldResponse struct {
	bytes   int // that are sent at once
	arrived chan struct{}
	proceed chan struct{}
}

// fetchOrigin is a source of a file.
type fetchOrigin struct {
	*httptest.Server
	content atomic.Value                 // string
	held    atomic.Pointer[heldResponse] // the next response; nil: it is sent at once
}

func newFetchOrigin(t *testing.T) *fetchOrigin {
	t.Helper()
	o := &fetchOrigin{}
	o.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := o.content.Load().(string)
		if held := o.held.Swap(nil); held != nil {
			if held.bytes > 0 {
				_, _ = io.WriteString(w, text[:held.bytes])
				_ = http.NewResponseController(w).Flush()
				text = text[held.bytes:]
			}
			close(held.arrived)
			select {
			case <-held.proceed:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(o.Close)
	return o
}

// settings returns the settings of a server that may fetch from the origin.
func (o *fetchOrigin) settings(t *testing.T) []string {
	t.Helper()
	certificate := write(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: o.Certificate().Raw})), t.TempDir(), "origin.pem")
	return []string{"HERBARIUM_FETCH_HOSTS=" + strings.TrimPrefix(o.URL, "https://") + ",127.0.0.1",
		"SSL_CERT_FILE=" + certificate}
}

// fetchedDataset is the part of a description that tells how fetches went.
type fetchedDataset struct {
	Version     string    `json:"version"`
	Records     int       `json:"records"`
	PublishedAt time.Time `json:"published_at"`
	Fetch       struct {
		CheckedAt time.Time `json:"checked_at"`
		ChangedAt time.Time `json:"changed_at"`
		NextAt    time.Time `json:"next_at"`
		Failures  int       `json:"failures"`
		Running   bool      `json:"running"`
	} `json:"fetch"`
}

// TestFetch_killed kills the node of a cluster that fetches a file, after each of its steps. The
// live version stays, or is the new one; another node fetches when the claim has expired, which the
// test makes it do at once.
func TestFetch_killed(t *testing.T) {
	t.Parallel()
	postgres := &pgtest.Cluster{}
	t.Cleanup(func() {
		if err := postgres.Stop(); err != nil {
			t.Error(err)
		}
	})
	address := postgres.Database(t)
	o := newFetchOrigin(t)
	env := append(s3test.Environ(), append(o.settings(t), "HERBARIUM_DATABASE="+address,
		"HERBARIUM_BLOBS="+s3test.New(t).URL(t, "herbarium"), "HERBARIUM_REQUEST_TIMEOUT=1m")...)
	newNode := func() *node { return start(t, config{settings: env}) }
	n := newNode()
	out, code, err := programtest.Run(t.Context(), program, append(env, "HERBARIUM_DATA="+t.TempDir()), "keys",
		"create", "--name", "publisher", "--scope", "publish:shop/*,data:read")
	if err != nil || code != 0 {
		t.Fatal(out, code, err)
	}
	key := strings.TrimSpace(out)
	db, err := pgx.Connect(t.Context(), address)
	must.NoError(t, err)
	defer db.Close(context.WithoutCancel(t.Context()))
	exec := func(statement string) {
		t.Helper()
		_, err := db.Exec(t.Context(), statement)
		must.NoError(t, err)
	}

	const path = "/api/v1/shop/prices"
	send := func(method, path, body string, status int) string {
		t.Helper()
		r, err := n.request(method, path, body, "X-API-Key", key)
		if err != nil || r.Status != status {
			t.Fatalf("%s %s: %d %s, %v", method, path, r.Status, r.Body, err)
		}
		return r.Body
	}
	describe := func(ctx context.Context, n *node) (d fetchedDataset, err error) {
		r, err := n.request(http.MethodGet, path, "", "X-API-Key", key)
		if err != nil || r.Status != http.StatusOK {
			return d, fmt.Errorf("%d %s, %w", r.Status, r.Body, err)
		}
		return d, json.Unmarshal([]byte(r.Body), &d)
	}
	records := 1
	file := func() string { return "id,price\n" + strings.Repeat("1,2\n", records) }
	o.content.Store(file())
	send(http.MethodPut, path+"/descriptor",
		`{"resources": [{"path": "`+o.URL+`/prices.csv", "herbarium": {"refresh": "1h"}}]}`, http.StatusCreated)
	send(http.MethodPost, path+"/fetch", "", http.StatusOK) // so that it has a state

	for _, step := range []struct {
		name   string
		bytes  int    // of the file that are sent
		locked string // table that cannot be written, so that the node waits there; empty: it waits for the file
		isLive bool   // the new version is live when the node dies
	}{
		{name: "claimed"}, {name: "downloading", bytes: 9}, {name: "downloaded", locked: "publishes"},
		{name: "built", locked: "live_versions"}, {name: "live", locked: "fetches", isLive: true},
	} {
		before, err := describe(t.Context(), n)
		must.NoError(t, err)
		records++
		o.content.Store(file())
		held := &heldResponse{step.bytes, make(chan struct{}), make(chan struct{})}
		o.held.Store(held)
		exec("UPDATE fetches SET due = 1000000 * extract(epoch FROM now())::bigint")
		eventually(t, step.name+": the node fetches", func(context.Context) error {
			select {
			case <-held.arrived:
				return nil
			default:
				return errors.New("no request has arrived")
			}
		})
		next := newNode()
		if step.locked != "" {
			tx, err := db.Begin(t.Context())
			must.NoError(t, err)
			_, err = tx.Exec(t.Context(), "LOCK TABLE "+step.locked+" IN EXCLUSIVE MODE") // it can be read
			must.NoError(t, err)
			close(held.proceed)
			eventually(t, step.name, func(ctx context.Context) error {
				d, err := describe(ctx, next)
				var waiting bool
				if err == nil {
					err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"+
						step.locked+"'::regclass)").Scan(&waiting)
				}
				if err == nil && (!waiting || step.isLive != (d.Records == records)) {
					err = fmt.Errorf("waiting: %t, %d records", waiting, d.Records)
				}
				return err
			})
			n.Kill()
			_, err = tx.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted")
			must.NoError(t, err)
			must.NoError(t, tx.Rollback(t.Context()))
		} else {
			n.Kill()
		}
		n = next
		after, err := describe(t.Context(), n)
		must.NoError(t, err)
		if (after.Version == before.Version) == step.isLive || !after.Fetch.Running {
			t.Errorf("%s: %+v becomes %+v", step.name, before, after)
		}
		var claimed int64
		must.NoError(t, db.QueryRow(t.Context(), "SELECT claimed FROM fetches").Scan(&claimed))
		if left := time.Until(time.UnixMicro(claimed)); left > time.Minute {
			t.Errorf("%s: another node may fetch after %s", step.name, left)
		}
		exec("UPDATE fetches SET claimed = 1") // as if that time had passed
		eventually(t, step.name+": another node fetches", func(ctx context.Context) error {
			d, err := describe(ctx, n)
			if err == nil && (d.Records != records || d.Fetch.Running ||
				!d.Fetch.CheckedAt.After(before.Fetch.CheckedAt) || d.Fetch.ChangedAt.Before(d.PublishedAt) ||
				time.Until(d.Fetch.NextAt) < 0 || d.Fetch.Failures > 0) {
				err = fmt.Errorf("%+v", d)
			}
			return err
		})
		if step.isLive {
			if now, err := describe(t.Context(), n); err != nil || now.Version != after.Version {
				t.Errorf("%s: published again as %s, %v", step.name, now.Version, err)
			}
		}
		var list struct {
			Versions []struct{ Records int }
		}
		must.NoError(t, json.Unmarshal([]byte(send(http.MethodGet, path+"/versions", "", http.StatusOK)), &list))
		for i, v := range list.Versions {
			if v.Records != records-i {
				t.Errorf("%s: the versions are %+v", step.name, list.Versions)
			}
		}
	}
}

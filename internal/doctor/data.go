package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"herbarium/internal/blobs"
	"herbarium/internal/herb"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// liveVersion is a published version that is listed.
type liveVersion struct {
	herb.Ref
	version string
}

// checkDatabase checks that the database can be reached and has a schema that this program can use.
func (d *doctor) checkDatabase(ctx context.Context) {
	if d.Config.Database != "" {
		d.checkPostgres(ctx)
		return
	}
	path := filepath.Join(d.Config.Data, store.DatabaseFile)
	if exists, err := d.Config.HasData(); err != nil || !exists {
		d.fail(path+" does not exist", "see data folder")
		return
	}
	i, err := sqlite.Inspect(ctx, path)
	switch {
	case ctx.Err() != nil:
		d.warn(fmt.Sprintf("the check of %s was not complete after %s", path, timeout), "run it when the server is less busy")
	case err != nil:
		d.fail(err.Error(), "restore a backup, or use the program that wrote the database")
	case i.Damage != "":
		d.fail(fmt.Sprintf("%s is damaged: %s", path, i.Damage), "stop the server and restore a backup with 'herbarium restore --replace'")
	case i.Version < i.Latest:
		d.warn(fmt.Sprintf("SQLite with schema version %d; this program uses %d", i.Version, i.Latest),
			"back up the data; the next command or server of this version upgrades the schema")
	default:
		d.ok(fmt.Sprintf("SQLite, intact, schema version %d", i.Version))
		d.readCatalogue(ctx, func() (database, error) { return sqlite.Open(ctx, path, sqlite.Options{}) })
	}
}

// maxOffset is the difference of clocks that is normal between machines whose clocks are synchronized.
const maxOffset = time.Second

func (d *doctor) checkPostgres(ctx context.Context) {
	i, err := postgres.Inspect(ctx, string(d.Config.Database))
	switch {
	case err != nil:
		d.fail(err.Error(), "check the address, the network and the server")
		return
	case i.ReadOnly:
		d.fail("the server is read-only or a standby", "name the primary in the address, or all servers and target_session_attrs=read-write")
	case i.Version == 0:
		d.warn("the database is empty", "start a server, or copy data with 'herbarium migrate' or 'herbarium restore'")
	case i.Version < i.Latest:
		d.warn(fmt.Sprintf("PostgreSQL %s with schema version %d; this program uses %d", i.Server, i.Version, i.Latest),
			"read about upgrades in docs/operations.md; the next node of this version upgrades the schema")
	default:
		d.ok(fmt.Sprintf("PostgreSQL %s, schema version %d", i.Server, i.Version))
		d.readCatalogue(ctx, func() (database, error) { return postgres.Open(ctx, string(d.Config.Database), postgres.Options{}) })
	}
	if offset := i.ClockOffset.Abs(); offset > maxOffset+i.Accuracy {
		d.warn(fmt.Sprintf("its clock differs from the local one by %s", offset.Round(100*time.Millisecond)), "synchronize both clocks with NTP")
	}
	if !i.TLS && !strings.Contains(string(d.Config.Database), "host=/") && !localDatabase(d.Config.Database) {
		d.warn("the connection is not encrypted", "add sslmode=verify-full to the address")
	}
}

// localDatabase reports whether all hosts of an address are this machine.
func localDatabase(a herb.Address) bool {
	_, rest, _ := strings.Cut(string(a), "://")
	rest, _, _ = strings.Cut(rest, "?")
	hosts, _, _ := strings.Cut(rest[strings.LastIndexByte(rest, '@')+1:], "/")
	for host := range strings.SplitSeq(hosts, ",") {
		if host != "" && host != "localhost" && !isLoopback(host) && !isLoopback(host+":0") && !strings.HasPrefix(host, "localhost:") {
			return false
		}
	}
	return true
}

// database is an open database.
type database interface {
	AllVersions(ctx context.Context) ([]store.DatasetVersions, error)
	Close() error
}

// readCatalogue reads the live versions, for later checks.
func (d *doctor) readCatalogue(ctx context.Context, open func() (database, error)) {
	db, err := open()
	if err != nil {
		d.fail(err.Error(), "run the command as the user of the server")
		return
	}
	defer db.Close()
	all, err := db.AllVersions(ctx)
	if err != nil {
		d.fail(fmt.Sprintf("cannot read the catalogue: %v", err), "restore a backup")
		return
	}
	d.known = true
	for _, ds := range all {
		d.live = append(d.live, liveVersion{ds.Ref, ds.Live})
		found := false
		for _, v := range ds.Versions {
			found = found || v.Version == ds.Live
			if v.Published.After(d.newest) {
				d.newest = v.Published
			}
		}
		if !found {
			d.fail(fmt.Sprintf("the live version %s of %s is not in the catalogue", ds.Live, ds.Ref), "publish the dataset again")
		}
	}
}

// checkCatalogue reports the size of the catalogue.
func (d *doctor) checkCatalogue(context.Context) {
	if !d.known {
		d.warn("not checked, because the database cannot be used", "see database")
		return
	}
	d.ok(fmt.Sprintf("%s published datasets", herb.Count(len(d.live))))
}

// maxNamed limits the number of files that are named in a finding.
const maxNamed = 3

// checkFiles opens the segment files of all live versions, which verifies their headers, footers and tables of contents.
func (d *doctor) checkFiles(ctx context.Context) {
	if !d.known {
		return
	}
	intact, absent := 0, 0
	var damaged []string
	for _, v := range d.live {
		r, err := segment.Open(filepath.Join(d.Config.Data, store.VersionsDir, v.version+".segment"))
		switch {
		case errors.Is(err, fs.ErrNotExist) && d.Config.Blobs != "": // it is fetched when it is needed
			absent++
		case err != nil:
			damaged = append(damaged, fmt.Sprintf("%s: %v", v.Ref, err))
		default:
			intact++
			_ = r.Release() // it was only read
		}
		if ctx.Err() != nil {
			d.warn(fmt.Sprintf("only %s of %s files were checked in %s", herb.Count(intact), herb.Count(len(d.live)), timeout), "check them with 'herbarium segment verify'")
			break
		}
	}
	if n := len(damaged); n > 0 {
		d.fail(fmt.Sprintf("%s of %s live versions cannot be opened: %s", herb.Count(n), herb.Count(len(d.live)),
			strings.Join(damaged[:min(n, maxNamed)], "; ")), "roll back or publish these datasets again, or restore a backup")
		return
	}
	detail := fmt.Sprintf("%s live versions can be opened", herb.Count(intact))
	if absent > 0 {
		detail += fmt.Sprintf(", %s are not in the cache", herb.Count(absent))
	}
	d.ok(detail + "; 'herbarium segment verify' checks the whole content of a file")
}

// checkObjectStore writes, reads and deletes a probe, and looks for the files of live versions.
func (d *doctor) checkObjectStore(ctx context.Context) {
	if d.Config.Blobs == "" {
		d.ok("not used; published files are in the data folder")
		return
	}
	bucket, err := blobs.Open(ctx, string(d.Config.Blobs), blobs.Options{})
	if err != nil {
		d.fail(err.Error(), "correct the address")
		return
	}
	defer bucket.Close()
	conditional, err := bucket.Probe(ctx)
	if err != nil {
		d.fail(err.Error(), "check the address, the network, the credentials and their permissions")
		return
	}
	supported := map[bool]string{true: "supported", false: "not supported and not needed"}[conditional]
	d.ok("wrote, read, listed and deleted a probe; conditional writes are " + supported)
	missing := map[string]herb.Ref{}
	for _, v := range d.live {
		missing[v.version+".segment"] = v.Ref
	}
	for o, err := range bucket.List(ctx) {
		if err != nil {
			d.fail(err.Error(), "check the permission to list objects")
			return
		}
		delete(missing, o.Name)
	}
	if len(missing) == 0 {
		return
	}
	var names []string
	for _, ref := range missing {
		if len(names) < maxNamed {
			names = append(names, ref.String())
		}
	}
	d.fail(fmt.Sprintf("%d live versions have no object, such as that of %s", len(missing), strings.Join(names, ", ")),
		"publish these datasets again, or restore the objects from a backup")
}

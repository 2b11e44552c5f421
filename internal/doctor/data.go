package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"herbarium/internal/app"
	"herbarium/internal/blobs"
	"herbarium/internal/fetch"
	"herbarium/internal/herb"
	"herbarium/internal/library"
	"herbarium/internal/segment"
	"herbarium/internal/store"
	"herbarium/internal/store/postgres"
	"herbarium/internal/store/sqlite"
)

// checkDatabase checks that the database can be reached and has a schema that this program can use,
// and reads the live versions for later checks.
func (d *doctor) checkDatabase(ctx context.Context) {
	if d.Config.Database != "" {
		i, err := postgres.Inspect(ctx, string(d.Config.Database))
		if err != nil {
			d.fail("check the address, the network and the server", "%v", err)
		} else if d.checkPostgres(i) {
			d.readCatalogue(ctx)
		}
		return
	}
	path := filepath.Join(d.Config.Data, store.DatabaseFile)
	if exists, err := d.Config.HasData(); err != nil || !exists {
		d.fail("see data folder", "%s does not exist", path)
		return
	}
	i, err := sqlite.Inspect(ctx, path)
	switch {
	case ctx.Err() != nil:
		d.warn("run it when the server is less busy", "the check of %s was not complete after %s", path, timeout)
	case err != nil:
		files := []string{path, path + "-wal", path + "-shm"}
		d.fail(d.remedy(err, "restore a backup, or use the program that wrote the database", files...), "%v", err)
	case i.Damage != "":
		d.fail("stop the server and restore a backup with 'herbarium restore --replace'", "%s is damaged: %s",
			path, i.Damage)
	case i.Version < i.Latest:
		d.warn("back up the data; the next server or publish of this version upgrades the schema",
			"SQLite with schema version %d; this program uses %d", i.Version, i.Latest)
	default:
		d.ok("SQLite, intact, schema version %d", i.Version)
		d.readCatalogue(ctx)
	}
}

// maxOffset is the difference of clocks that is normal between machines whose clocks are
// synchronized.
const maxOffset = time.Second

// checkPostgres checks what an inspection has found, and reports whether the catalogue can be read.
func (d *doctor) checkPostgres(i postgres.Inspection) (usable bool) {
	switch {
	case i.ReadOnly:
		d.fail("name the primary in the address, or all servers and target_session_attrs=read-write",
			"the server is read-only or a standby")
	case i.Version == 0:
		d.warn("start a server, or copy data with 'herbarium migrate' or 'herbarium restore'", "the database is empty")
	case i.Version < i.Latest:
		d.warn("read about upgrades in docs/operations.md; the next node or publish of this version upgrades the schema",
			"PostgreSQL %s with schema version %d; this program uses %d", i.Server, i.Version, i.Latest)
	default:
		usable = true
		d.ok("PostgreSQL %s, schema version %d", i.Server, i.Version)
	}
	if offset := i.ClockOffset.Abs(); offset > maxOffset+i.Accuracy {
		d.warn("synchronize both clocks with NTP", "its clock differs from the local one by %s",
			offset.Round(100*time.Millisecond))
	}
	if i.Exposed {
		d.warn("add sslmode=verify-full to the address", "the connection is not encrypted")
	}
	return usable
}

func (d *doctor) readCatalogue(ctx context.Context) {
	s, err := app.OpenStore(ctx, d.Config, app.OpenOptions{KeepSchema: true})
	if err != nil {
		d.fail(d.remedy(err, "run the command as the user of the server"), "%v", err)
		return
	}
	defer s.Close()
	catalogue, err := s.Changes(ctx, -1)
	versions, versionsErr := s.Versions(ctx)
	sources, sourcesErr := s.SourceErrors(ctx)
	fetches, fetchesErr := fetch.States(ctx, s, herb.Ref{}, d.now())
	if err := errors.Join(err, versionsErr, sourcesErr, fetchesErr); err != nil {
		d.fail(d.remedy(err, "restore a backup"), "cannot read the catalogue: %v", err)
		return
	}
	d.live, d.sources, d.fetches, d.known = catalogue.Datasets, sources, fetches, true
	for _, v := range d.live {
		if _, ok := slices.BinarySearch(versions, v.Version); !ok {
			d.fail(repairDataset, "the live version %s of %s is not in the catalogue", v.Version, v.Ref)
		}
	}
}

func (d *doctor) checkCatalogue(context.Context) {
	if !d.known {
		d.warn("see database", "not checked, because the database cannot be used")
		return
	}
	d.ok("%s", herb.Plural(len(d.live), "published dataset", "published datasets"))
}

// maxNamed limits the number of datasets that are named in a finding.
const maxNamed = 3

// checkFiles opens the segment files of all live versions, which verifies as much of them as a
// server does, and counts those whose index has to be rebuilt.
func (d *doctor) checkFiles(ctx context.Context) {
	if !d.known {
		return
	}
	intact, absent, outdated := 0, 0, 0
	var remedies []string
	unreadable := map[string][]string{} // by remedy
	for _, v := range d.live {
		isCurrent, err := d.checkVersionFiles(v.Version)
		switch {
		case errors.Is(err, fs.ErrNotExist) && d.Config.Blobs != "": // it is fetched when it is needed
			absent++
		case err != nil:
			remedy := d.remedy(err, repairDataset)
			if unreadable[remedy] == nil {
				remedies = append(remedies, remedy)
			}
			unreadable[remedy] = append(unreadable[remedy], fmt.Sprintf("%s: %v", v.Ref, err))
		case isCurrent:
			intact++
		default:
			intact++
			outdated++
		}
		if ctx.Err() != nil {
			d.warn("check them with 'herbarium segment verify'", "only %s of %s files were checked in %s",
				herb.Count(intact), herb.Count(len(d.live)), timeout)
			break
		}
	}
	for _, remedy := range remedies {
		found := unreadable[remedy]
		d.fail(remedy, "%s of %s live versions cannot be opened: %s",
			herb.Count(len(found)), herb.Count(len(d.live)), strings.Join(found[:min(len(found), maxNamed)], "; "))
	}
	if len(remedies) > 0 {
		return
	}
	if outdated > 0 {
		d.warn("the server rebuilds them in the background; 'herbarium upgrade' does so before it starts",
			"%s of %s live versions have the index of another release", herb.Count(outdated), herb.Count(intact))
	}
	cached := ""
	if absent > 0 {
		cached = fmt.Sprintf(", %s are not in the cache", herb.Count(absent))
	}
	d.ok("%s can be opened%s; 'herbarium segment verify' checks the whole content of a file",
		herb.Plural(intact, "live version", "live versions"), cached)
}

// repairDataset is the remedy for a version whose file is damaged or missing.
const repairDataset = "publish the files of these datasets, also if they have not changed; without a file, roll back " +
	"or restore a backup"

// checkVersionFiles opens the files of a version in the data folder and reports whether one of them
// has an index of this program.
func (d *doctor) checkVersionFiles(version string) (isCurrent bool, err error) {
	folder := filepath.Join(d.Config.Data, store.VersionsDir)
	rebuilt, err := library.OpenCore(filepath.Join(folder, store.RebuiltFile(version, segment.CurrentIndex())))
	if err == nil { // a damaged one is rebuilt
		isCurrent = true
		err = rebuilt.Close()
	}
	if isCurrent && d.Config.Blobs != "" { // the cache of a node has one of both files
		return isCurrent, err
	}
	published, err := library.OpenCore(filepath.Join(folder, store.SegmentFile(version)))
	if err != nil {
		return false, err
	}
	return isCurrent || published.HasCurrentIndex(), published.Close()
}

// checkSources reports the sources whose current state is not published.
func (d *doctor) checkSources(context.Context) {
	if !d.known {
		return
	}
	for _, s := range d.sources {
		what := s.Path
		if s.Ref != (herb.Ref{}) {
			what = s.Ref.String() + " from " + s.Path
		}
		if s.Skipped {
			d.warn("do what the reason says, or move the file away", "%s is skipped: %s", what, s.Message)
		} else {
			d.fail("do what the reason says; a server that watches the file publishes it then; if none does, run "+
				"'herbarium datasets dismiss'",
				"%s could not be published: %s", what, s.Message)
		}
	}
	failing := 0
	for _, v := range d.live {
		if f := d.fetches[v.Ref]; f.Error != "" {
			failing++
			d.warn("do what the reason says; the live version stays until then", "%s could not be fetched since %s: %s",
				v.Ref, f.Failing.Format(time.DateOnly), f.Error)
		}
	}
	if len(d.sources)+failing == 0 {
		d.ok("none failed or was skipped")
	}
}

// checkFreshness reports datasets whose next version is overdue.
func (d *doctor) checkFreshness(context.Context) {
	if !d.known {
		return
	}
	var overdue []string
	declared := 0
	for _, v := range d.live {
		f := v.FreshnessAt(d.now())
		if f.State != "" {
			declared++
		}
		if f.State == herb.Overdue {
			overdue = append(overdue, v.Ref.String()+" since "+f.Overdue.Format(time.DateOnly))
		}
	}
	if len(overdue) == 0 {
		d.ok("%s of %s how often they change, and none is overdue", herb.Count(declared),
			herb.Plural(len(d.live), "dataset declares", "datasets declare"))
		return
	}
	d.warn("publish the next edition, or change expected in the descriptor", "%s: %s",
		herb.Plural(len(overdue), "dataset is overdue", "datasets are overdue"),
		strings.Join(overdue[:min(len(overdue), maxNamed)], "; "))
}

// checkObjectStore writes, reads and deletes a probe, and looks for the files of live versions.
func (d *doctor) checkObjectStore(ctx context.Context) {
	if d.Config.Blobs == "" {
		d.ok("not used; published files are in the data folder")
		return
	}
	bucket, err := blobs.Open(string(d.Config.Blobs), blobs.Options{})
	if err != nil {
		d.fail("correct the address", "%v", err)
		return
	}
	defer bucket.Close()
	if err := bucket.Probe(ctx); err != nil {
		d.fail("check the address, the network, the credentials and their permissions", "%v", err)
		return
	}
	d.ok("wrote, read, listed and deleted a probe")
	stored := map[string]bool{}
	for o, err := range bucket.List(ctx, "") {
		if err != nil {
			d.fail("check the permission to list objects", "%v", err)
			return
		}
		stored[o.Name] = true
	}
	var missing []string
	for _, v := range d.live {
		if !stored[store.SegmentFile(v.Version)] {
			missing = append(missing, v.Ref.String())
		}
	}
	if n := len(missing); n > 0 {
		d.fail(repairDataset, "%s without an object, such as that of %s",
			herb.Plural(n, "live version", "live versions"), strings.Join(missing[:min(n, maxNamed)], ", "))
	}
}

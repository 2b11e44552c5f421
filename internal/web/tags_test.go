package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"herbarium/internal/etag"
	"herbarium/internal/herb"
	"herbarium/internal/httpapi/apitest"
	"herbarium/internal/must"
	"herbarium/internal/web"
)

var update = flag.Bool("update", false, "update the record of entity tags")

// tagRecord is the record of the entity tags of a release: clients have copies with these tags.
var tagRecord = filepath.Join("testdata", "tags.txt")

// taggedRequests returns requests of every kind that has an entity tag, as path and headers.
func taggedRequests() []string {
	const api, page, places = "/api/v1/garden/catalog", "/datasets/garden/catalog", "/api/v1/geo/places"
	return []string{
		"/api/v1", "/api/v1?search=garden", api, places, api + "/versions", "/schemas/datapackage.json",
		api + "/data", api + "/data?page=2&per_page=10", api + "/data?per_page=10&page=2",
		api + "/data?category=fern&price[gte]=5000", api + "/data?search=plant&sort=-price",
		api + "/data?_fields=title,id", api + "/data?_typed=true", api + "/data?search=plant&_matches=true",
		api + "/data?_version=v0", api + "/data?sort=title",
		places + "/data?_near=59.9,10.7,10000000&sort=_distance",
		places + "/data?_bbox=-80,-20,20,60", api + "/data Accept: text/csv",
		api + "/data Accept: application/x-ndjson",
		api + "/data/7", api + "/data/7?_fields=title", api + "/data/5?_version=v0",
		api + "/data.csv", api + "/data.csv?category=fern", api + "/data.ndjson", api + "/data.ndjson?_typed=true",
		api + "/data.xlsx", places + "/data.geojson",
		api + "/data.parquet", api + "/data.parquet?_types=text",
		api + "/facets?field=category", api + "/facets?field=category&field=price&top=2&search=plant",
		places + "/grid?_bounds=-180,-90,180,90&_columns=4&_rows=2",
		places + "/grid?_x=longitude&_y=latitude&_bounds=-180,-90,180,90",
		api + "/aggregate?_by=category&_measure=sum:price", api + "/aggregate?_measure=count",
		api + "/aggregate.csv?_by=date:month", api + "/aggregate?_by=date:month&_typed=true",
		"/sitemap.xml", page + "/croissant.json",
		page + "/preview.png", page + "/chart/preview.png?_by=category", "/datasets/geo/places/map/preview.png",
		page + "/chart.svg?_by=category", page + "/spark.svg?v=v1",
		page, page + "?category=fern&sort=price", page + "/chart?_by=category", page + "/about", page + "/versions",
		page + "/api", "/datasets/geo/places/map",
	}
}

// TestTags_record compares entity tags with those of the record, and the responses that they stand
// for. A release keeps the tag of a response that it does not change, and changes the tag of one
// that it does. CONTRIBUTING.md says when the record may change.
func TestTags_record(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(o *web.Options, l *apitest.Library) {
		o.PublicURL = "https://data.example/open"
		publish := func(d herb.Dataset, records []herb.Record) {
			d.Version, d.Published = "v1", time.Date(2026, 3, 20, 8, 30, 0, 0, time.UTC)
			l.Put(d, records)
		}
		d, records := garden()
		d.Descriptor = herb.NewDescriptor([]byte(withContact))
		publish(d, records)
		keep(l, d, "v0", records[:5])
		publish(places())
	})
	assets := regexp.MustCompile(`(/open/assets/[0-9a-f]+)/`)
	var lines []string
	for _, r := range taggedRequests() {
		target, header, hasHeader := strings.Cut(r, " ")
		var headers []string
		if hasHeader {
			name, value, _ := strings.Cut(header, ": ")
			headers = []string{name, value}
		}
		a := s.get(t, target, headers...)
		tag, body := a.header.Get("Etag"), sha256.Sum256([]byte(a.body))
		content := hex.EncodeToString(body[:6])
		// another compiler may compress them in another way
		if strings.HasSuffix(target, ".xlsx") || strings.Contains(target, ".png") {
			content = "compressed"
		}
		if a.status != 200 {
			t.Errorf("%s: %d %.300s", r, a.status, a.body)
			continue
		}
		if found := assets.FindStringSubmatch(a.body); found != nil { // pages depend on the release and on its assets
			path, query, _ := strings.Cut(target, "?")
			content = "page"
			if tag == etag.New("test", found[1], "v1", "v1", "https://data.example/open", "", path, query) {
				tag = "of-the-release"
			}
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\n", r, tag, content))
	}
	if *update {
		must.NoError(t, os.MkdirAll(filepath.Dir(tagRecord), 0o755))
		must.NoError(t, os.WriteFile(tagRecord, []byte(strings.Join(lines, "")), 0o644))
	}
	recorded, err := os.ReadFile(tagRecord)
	must.NoError(t, err)
	known := map[string][]string{}
	for line := range strings.Lines(string(recorded)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		known[parts[0]] = parts[1:]
	}
	for _, line := range lines {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		was := known[parts[0]]
		delete(known, parts[0])
		switch {
		case was == nil:
			t.Errorf("%s is not in the record; add it with -update", parts[0])
		case parts[1] == was[0] && parts[2] == was[1]:
		case parts[2] == was[1]:
			t.Errorf("%s has the tag %s instead of %s, although the response is the same: every client would fetch "+
				"it again", parts[0], parts[1], was[0])
		case parts[1] == was[0]:
			t.Errorf("%s differs from the recorded response and has the same tag: clients would keep the old one; "+
				"raise representation or fileRepresentation", parts[0])
		default:
			t.Errorf("%s differs from the recorded response, and so does its tag; if this is intended, update the "+
				"record and say so in CHANGELOG.md", parts[0])
		}
	}
	for r := range known {
		t.Errorf("%s is in the record, and no request has it", r)
	}
}

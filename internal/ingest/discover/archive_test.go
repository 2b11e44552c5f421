package discover_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/discover"
	"herbarium/internal/ingest/rowstest"
)

// TestDiscover_Archives publishes the tables of zip archives.
func TestDiscover_Archives(t *testing.T) {
	t.Parallel()
	const stops, agency = "stop_id,stop_name,zone\na,Harbour,1\nb,Market,2\n",
		"agency_id,agency_name,agency_url\nx,City Bus,https://a.example\n"
	timetable := rowstest.Zip(t, "gtfs/stops.txt="+stops, "gtfs/agency.txt="+agency,
		"gtfs/readme.txt=Ask us, please.\nThanks.\n", "gtfs/a.xml=x")
	species := rowstest.Zip(t, "meta.xml=<archive/>", "eml.xml="+strings.Repeat("long ", 100),
		"occurrence.txt=id\tname\trank\n1\tRosa\tgenus\n2\tAcer\tgenus\n")
	document := rowstest.Zip(t, `x/a.json={"p":[{"id":1},{"id":2}],"q":[{"id":3},{"id":4}]}`, "x/y/b.csv="+stops,
		"x/b.tsv=id\tn\n1\t2\n", "readme.txt=x")
	dir := rowstest.Folder(t, "timetable.zip="+timetable, "species.zip="+species, "mixed.csv.zip="+document)
	for _, tt := range []struct {
		path, want, skipped string
		problem             string
	}{
		{path: "", want: "mixed-a-p mixed-a-q mixed-b mixed-y-b species timetable-agency timetable-stops",
			skipped: "timetable.zip#gtfs/readme.txt"},
		{path: "/timetable.zip", want: "timetable-agency timetable-stops", skipped: "timetable.zip#gtfs/readme.txt"},
		{path: "/timetable.zip#gtfs/stops.txt", want: "timetable-stops"},
		{path: "/mixed.csv.zip#x/a.json#q", want: "mixed-a-q"},
		{path: "/mixed.csv.zip#x/a.json", want: "mixed-a-p mixed-a-q"},
		{path: "/timetable.zip#gtfs/stop.txt",
			problem: `no such table "gtfs/stop.txt"; did you mean "gtfs/stops.txt"?`},
		{path: "/timetable.zip#gtfs/stops.txt#x", problem: "has no tables; remove #x"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			set := find(t, dir+tt.path)
			if err := set.Err(); err != nil || tt.problem != "" {
				if err == nil || tt.problem == "" || !strings.Contains(err.Error(), tt.problem) {
					t.Errorf("got error %v, want %q", err, tt.problem)
				}
				return
			}
			var names, skipped []string
			for _, s := range set.Sources {
				names = append(names, s.Ref.Name)
				if records, err := listing(t, s); err != nil || len(records) < 1 {
					t.Errorf("%s: got %q, error %v", s.Label(), records, err)
				}
			}
			for _, s := range set.Skipped {
				skipped = append(skipped, strings.TrimPrefix(s.Path, dir+"/"))
			}
			if diff := cmp.Diff(tt.want+" | "+tt.skipped, strings.Join(names, " ")+" | "+
				strings.Join(skipped, " ")); diff != "" {
				t.Errorf("names and skipped files (-want +got):\n%s", diff)
			}
		})
	}
	finder := discover.New(discover.Options{Formats: ingest.Formats()})
	src, err := finder.As(t.Context(), dir+"/timetable.zip#gtfs/stops.txt", herb.Ref{Namespace: "n", Name: "d"})
	if err != nil || src.Entry != "gtfs/stops.txt" || src.Label() != dir+"/timetable.zip#gtfs/stops.txt" ||
		src.Ref.Name != "d" {
		t.Errorf("got %+v, error %v", src, err)
	}
	src, err = finder.As(t.Context(), dir+"/timetable.zip", herb.Ref{Namespace: "n", Name: "d"})
	if err == nil {
		_, err = listing(t, src)
	}
	if err == nil || !strings.Contains(err.Error(),
		"contains 3 tables (gtfs/stops.txt, gtfs/agency.txt, gtfs/readme.txt); name one of them, such as "+
			"FILE#gtfs/stops.txt") {
		t.Errorf("one name for several tables: got %+v, error %v", src, err)
	}
}

// TestDiscover_ArchiveLimits checks that an archive is not opened once for each of very many
// tables, and that the limits of a file apply to all of its tables together.
func TestDiscover_ArchiveLimits(t *testing.T) {
	t.Parallel()
	var many, wide []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("%d.csv=a,b\n1,2\n", i))
	}
	for i := range 20 {
		wide = append(wide, fmt.Sprintf("%d.csv=a,b\n%s", i, strings.Repeat("1,2\n", 50_000)))
	}
	dir := rowstest.Folder(t, "many.zip="+rowstest.Zip(t, many...), "wide.zip="+rowstest.Zip(t, wide...))
	if err := find(t, dir+"/many.zip").Err(); err == nil || !strings.Contains(err.Error(), "at most 100 are possible") {
		t.Errorf("many tables: got error %v", err)
	}
	set := find(t, dir+"/wide.zip")
	failed := 0
	for _, s := range set.Sources {
		if _, err := listing(t, s); err != nil {
			failed++
			if !strings.Contains(err.Error(), "too much for its size") {
				t.Errorf("%s: %v", s.Label(), err)
			}
		}
	}
	if len(set.Sources) != 20 || failed == 0 || failed == 20 {
		t.Errorf("%d of %d tables exceed the limits of the archive; want some", failed, len(set.Sources))
	}
}

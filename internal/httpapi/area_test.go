package httpapi_test

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/testseed"
)

// position is where a record of stations starts. It shares no code with the program.
type position struct {
	id       string
	lat, lon float64
}

// meters returns the distance of two positions by the law of cosines of vectors, which differs from
// other formulas by less than a meter.
func (p position) meters(q position) float64 {
	vector := func(p position) [3]float64 {
		y, x := p.lat*math.Pi/180, p.lon*math.Pi/180
		return [3]float64{math.Cos(y) * math.Cos(x), math.Cos(y) * math.Sin(x), math.Sin(y)}
	}
	a, b := vector(p), vector(q)
	chord := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
	return 2 * 6371008.8 * math.Asin(min(chord/2, 1))
}

// within reports whether a position is in a box, whose borders are no positions of stations.
func (p position) within(west, south, east, north float64) bool {
	isBetween := p.lon >= west && p.lon <= east
	if west > east {
		isBetween = p.lon >= west || p.lon <= east
	}
	return isBetween && p.lat >= south && p.lat <= north
}

// publishStations publishes the records of stations, and returns them.
func publishStations(t *testing.T, random *rand.Rand) (*publishSite, []herb.Record) {
	t.Helper()
	d, records := stations(random)
	var file strings.Builder
	w := csv.NewWriter(&file)
	must.NoError(t, w.Write(fieldNames(d.Fields)))
	for _, r := range records {
		must.NoError(t, w.Write(r))
	}
	w.Flush()
	p := newPublishing(t, nil)
	if a := p.put(t, "", file.String()); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	return p, records
}

func fieldNames(fields []herb.Field) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// TestArea compares the records in boxes and circles, around the poles and across the antimeridian
// too, in every response that has them.
func TestArea(t *testing.T) {
	t.Parallel()
	s, records := publishStations(t, rand.New(rand.NewPCG(testseed.Seed(t), 0)))
	var all []position
	for _, r := range records {
		lat, errLat := strconv.ParseFloat(r[2], 64)
		lon, errLon := strconv.ParseFloat(r[3], 64)
		if errLat == nil && errLon == nil && lat <= 90 {
			all = append(all, position{r[1], lat, math.Remainder(lon, 360)})
		}
	}
	const path = pricesPath + "/"
	for _, tt := range []struct {
		area     string
		isInside func(position) bool
		center   *position // of a circle
	}{
		{area: "_bbox=-10.5,40.5,20.5,60.5", isInside: func(p position) bool {
			return p.within(-10.5, 40.5, 20.5, 60.5)
		}},
		{area: "_bbox=170.5,-90,-170.5,90", isInside: func(p position) bool {
			return p.within(170.5, -90, -170.5, 90)
		}},
		{area: "_bbox=20.5,-40.5,-10.5,60.5", isInside: func(p position) bool {
			return p.within(20.5, -40.5, -10.5, 60.5)
		}},
		{area: "_bbox=-180,80.5,180,90", isInside: func(p position) bool { return p.within(-180, 80.5, 180, 90) }},
		{area: "_near=90,0,3000000", center: &position{lat: 90}},
		{area: "_near=-89.9,120,3000000", center: &position{lat: -89.9, lon: 120}},
		{area: "_near=-17,180,5000000", center: &position{lat: -17, lon: 180}},
		{area: "_near=1,-179.99,4000000&_bbox=100.5,-90,-100.5,90", center: &position{lat: 1, lon: -179.99},
			isInside: func(p position) bool { return p.within(100.5, -90, -100.5, 90) }},
	} {
		isInside := func(p position) bool {
			isNear := true
			if tt.center != nil {
				_, limit, _ := strings.Cut(strings.TrimPrefix(tt.area, "_near="), ",")
				_, limit, _ = strings.Cut(limit, ",")
				limit, _, _ = strings.Cut(limit, "&")
				most, _ := strconv.ParseFloat(limit, 64)
				isNear = p.meters(*tt.center) <= most
			}
			return isNear && (tt.isInside == nil || tt.isInside(p))
		}
		var want []string
		for _, p := range all {
			if isInside(p) {
				want = append(want, p.id)
			}
		}
		if len(want) == 0 || len(want) == len(all) {
			t.Fatalf("%s selects %d of %d records", tt.area, len(want), len(all))
		}
		var got []string
		for n := 1; len(got) == 100*(n-1); n++ {
			page, meta := s.get(t, fmt.Sprintf("%sdata?per_page=100&page=%d&%s", path, n, tt.area)).listing(t)
			for _, r := range page {
				got = append(got, r["n"])
			}
			if meta.Total != len(want) {
				t.Errorf("%s: the total is %d, want %d", tt.area, meta.Total, len(want))
			}
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tt.area, diff)
		}
		if got := strings.Split(strings.TrimSpace(s.get(t, path+"data.csv?_fields=n&"+tt.area).body),
			"\r\n")[1:]; !slices.Equal(got, want) {
			t.Errorf("%s: the export has %q", tt.area, got)
		}
		open := 0
		for _, p := range want {
			n, _ := strconv.Atoi(p)
			if records[n][6] == "yes" {
				open++
			}
		}
		if a := s.get(t, path+"facets?field=open&"+tt.area); !strings.Contains(a.body,
			fmt.Sprintf(`{"value":"yes","count":%d}`, open)) {
			t.Errorf("%s: %d of %d are open: %s", tt.area, open, len(want), a.body)
		}
		if a := s.get(t, path+"aggregate?_measure=count&"+tt.area); !strings.Contains(a.body,
			fmt.Sprintf(`"values":["%d"]`, len(want))) {
			t.Errorf("%s: %d records, the aggregate is %s", tt.area, len(want), a.body)
		}
		if tt.center == nil {
			continue
		}
		distances := map[string]float64{}
		for _, p := range all {
			distances[p.id] = p.meters(*tt.center)
		}
		for order, sign := range map[string]int{"_distance": 1, "-_distance": -1} {
			sorted := strings.Split(strings.TrimSpace(s.get(t, path+"data.csv?_fields=n&sort="+order+"&"+tt.area).body),
				"\r\n")[1:]
			isSorted := slices.IsSortedFunc(sorted, func(a, b string) int {
				if math.Abs(distances[a]-distances[b]) < 1 {
					return 0
				}
				return sign * cmp.Compare(distances[a], distances[b])
			})
			if !isSorted || len(sorted) != len(want) {
				t.Errorf("%s: %s gives %q", tt.area, order, sorted)
			}
		}
	}
}

// TestArea_invalid checks that errors name the parameter, the value and what is valid.
func TestArea_invalid(t *testing.T) {
	t.Parallel()
	s, _ := publishStations(t, rand.New(rand.NewPCG(1, 1)))
	if a := s.do(t, request("PUT", "/api/v1/shop/plain/source", "id,name\n1,Rose\n",
		"X-API-Key: "+publisher)); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	const path = pricesPath + "/"
	var rejections []rejection
	for _, target := range []string{"data?", "data.csv?", "data.geojson?", "facets?field=open&",
		"aggregate?_measure=count&"} {
		for query, message := range map[string]string{
			"_bbox=1,2,3":                        `_bbox is "1,2,3"; it must be west,south,east,north`,
			"_bbox=1,2,3,x":                      `_bbox is "1,2,3,x"`,
			"_bbox=-181,0,0,1":                   "longitudes from -180 to 180",
			"_bbox=0,50,1,40":                    "south not above north",
			"_bbox=0,0,1,91":                     `_bbox is "0,0,1,91"`,
			"_bbox=0,0,1,1&_bbox=0,0,1,1":        `"_bbox" is given more than once`,
			"_near=1,2":                          `_near is "1,2"; it must be latitude,longitude,meters`,
			"_near=90.1,0,1":                     "a latitude from -90 to 90",
			"_near=0,0,-1":                       "a distance of 0 or more",
			"_near=0,0,NaN":                      `_near is "0,0,NaN"`,
			"_bbox=0,0,1,1&_coordinates=x":       `_coordinates is "x"; it must name coordinates of the dataset: start_lat, end_lat`,
			"_coordinates=n":                     `_coordinates is "n"`,
			"_near=0,0,1&_coordinates=start_lon": `_coordinates is "start_lon"`,
		} {
			rejections = append(rejections, rejection{"", path + target + query, 400, message})
		}
	}
	for _, sort := range []string{"_distance", "-_distance"} {
		rejections = append(rejections,
			rejection{"", path + "data?sort=" + sort, 400, "sort=_distance needs _near=latitude,longitude,meters"})
	}
	for _, target := range []string{"data?_bbox=0,0,1,1", "facets?field=id&_near=0,0,1",
		"aggregate?_measure=count&_near=0,0,1", "data.geojson?"} {
		rejections = append(rejections, rejection{"", "/api/v1/shop/plain/" + target, 400, "has no coordinates"})
	}
	s.checkRejections(t, rejections)
}

package webtest_test

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"

	"herbarium/internal/must"
)

// pixelOf returns the pixel of coordinates on the map, by the coast.
func (b *tab) pixelOf(latitude, longitude float64) (x, y float64) {
	b.Helper()
	at := eval[[]float64](b, fmt.Sprintf(`(() => {
		const { x, y } = new DOMPoint(10 * %v, -10 * %v).matrixTransform(document.querySelector("svg.world .plane").getScreenCTM());
		return [x, y];
	})()`, longitude, latitude))
	return at[0], at[1]
}

// The steps of a mouse.
const (
	moved    = input.DispatchMouseEventTypeMouseMoved
	pressed  = input.DispatchMouseEventTypeMousePressed
	released = input.DispatchMouseEventTypeMouseReleased
)

const shift = 8 // modifier of the DevTools protocol

// mapMouse sends a mouse event with modifiers.
func (b *tab) mapMouse(step input.DispatchMouseEventType, x, y float64, modifiers int64) {
	b.Helper()
	p := input.DispatchMouseEventParams{Type: step, X: x, Y: y, Modifiers: modifiers}
	if step != moved {
		p.Button, p.ClickCount = input.MouseButtonLeft, 1
	}
	call(b, input.DispatchMouseEvent, p)
}

// drawn waits until the script has drawn the map.
func (b *tab) drawn() {
	b.Helper()
	b.settled()
	b.Until(`document.querySelector("#map.drawn")`)
}

func TestMap(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(wide)
	b.settled()
	b.Click(b.Pick(".tabs a", "Map"))
	b.Until(`location.pathname.endsWith("/map")`)
	b.drawn()
	if !eval[bool](b, `(() => { const c = document.querySelector("#map canvas");
		return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); })()`) {
		t.Error("the map has no points")
	}
	if size := eval[int](b, `performance.getEntriesByType("resource").filter((e) => /map|land/.test(e.name.split("/").pop()))
		.reduce((sum, e) => sum + e.encodedBodySize, 0)`); size < 5_000 || size > 45_000 {
		t.Errorf("the map loads %d bytes", size)
	}
	if keys := b.Texts(".legend li:has(circle)"); len(keys) != 1 || keys[0] != "one row" {
		t.Errorf("the legend of points is %q", keys)
	}
	x, y := b.pixelOf(0, 80) // of row 85
	b.mapMouse(moved, x, y, 0)
	b.Until(`document.querySelector(".map-tip b")?.innerText === "Row 85"`)
	if got := b.Texts(".map-tip div"); len(got) != 2 || !strings.HasPrefix(got[0], "amount_8 ") ||
		!strings.HasPrefix(got[1], "day_10 ") {
		t.Errorf("the tip has the values %q", got)
	}
	b.next(func() {
		b.mapMouse(pressed, x, y, 0)
		b.mapMouse(released, x, y, 0)
	})
	if got := b.Text("#record-title"); got != "Row 85" {
		t.Errorf("a click opens %q", got)
	}
	b.wantQuery("_record=36&page=2")

	b.follow("[data-record=close]")
	x0, y0 := b.pixelOf(20, 60)
	x1, y1 := b.pixelOf(-20, 100)
	b.next(func() {
		b.mapMouse(pressed, x0, y0, shift)
		b.mapMouse(moved, (x0+x1)/2, (y0+y1)/2, shift)
		b.mapMouse(moved, x1, y1, shift)
		b.mapMouse(released, x1, y1, shift)
	})
	b.drawn()
	for _, name := range []string{"latitude[gte]", "latitude[lte]", "longitude[gte]", "longitude[lte]"} {
		if b.query().Get(name) == "" {
			t.Errorf("the selection does not set %s: %v", name, b.query())
		}
	}
	l := get(t, b.url+"/api/v1/wide/thousand/data?latitude[gte]=-20&latitude[lte]=20&longitude[gte]=60&longitude[lte]=100&_fields=key")
	if got, want := b.Text(".map-note strong"), fmt.Sprintf("%d points", l.Meta.Total); got != want ||
		l.Meta.Total == 0 {
		t.Errorf("the selected area has %s, want %s", got, want)
	}
	if n := b.Count(".chip"); n != 2 {
		t.Errorf("there are %d chips", n)
	}
}

// TestMap_cells shows numbers of rows in cells, as maps of many rows do.
func TestMap_cells(t *testing.T) {
	t.Parallel()
	points := regexp.MustCompile(`data-points="[^"]*"`)
	s := newSite(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Accept-Encoding")
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			body := points.ReplaceAll(recorded.Body.Bytes(), []byte(`data-points=""`))
			for name, values := range recorded.Header() {
				if name != "Content-Length" {
					w.Header()[name] = values
				}
			}
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(bytes.Clone(body)) // an error is one of the browser
		})
	})
	b := open(t, s, tabOptions{Dark: true})
	b.Visit(wide + "/map")
	b.drawn()
	if keys := b.Texts(".legend li:has(rect)"); len(keys) == 0 ||
		!regexp.MustCompile(`^\d+( – \d+)?$`).MatchString(keys[0]) {
		t.Errorf("the legend is %q", keys)
	}
	x, y := b.pixelOf(0, 80)
	tries := 0.0
	b.Wait("a cell shows its number of rows", func() bool {
		tries++ // the edges of cells are whole pixels, so that of the point may be in the next cell
		b.mapMouse(moved, x+math.Mod(tries, 5)-2, y+math.Mod(tries/5, 5)-2, 0)
		return eval[bool](b, `/^\d+ rows?$/.test(document.querySelector(".map-tip").innerText)`)
	})
	before := eval[string](b, `document.querySelector("svg.world").getAttribute("viewBox")`)
	b.Click("[data-zoom='2']")
	b.Until(`document.querySelector("svg.world").getAttribute("viewBox") !== ` + quote(before))
}

func TestMap_withoutScript(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{NoScript: true})
	b.Visit(wide + "/map?latitude[gte]=0")
	b.settled()
	l := get(t, b.url+"/api/v1/wide/thousand/data?latitude[gte]=0&_fields=key")
	if got, want := b.Text(".map-note strong"), fmt.Sprintf("%d points", l.Meta.Total); got != want {
		t.Errorf("the map says %q, want %q", got, want)
	}
	if n := b.Count(".world .cells path"); n == 0 {
		t.Error("the map has no cells")
	}
	if b.Count("#map canvas:not([hidden])") != 0 {
		t.Error("the canvas is visible")
	}
	b.Visit(catalog)
	b.settled()
	if b.Count(".tabs a[href$='/map']") != 0 {
		t.Error("a dataset without coordinates has a map")
	}
}

// inView returns what a map says about the rows in view, and what the API counts between the bounds
// in the URL.
func (b *tab) inView() (said, counted string) {
	b.Helper()
	parts := strings.Split(b.query().Get("_bounds"), ",")
	if len(parts) != 4 {
		b.Fatalf("the URL has the bounds %q", parts)
	}
	l := get(b.T, fmt.Sprintf(
		"%s/api/v1/wide/thousand/data?longitude[gte]=%s&latitude[gte]=%s&longitude[lte]=%s&latitude[lte]=%s&_fields=key",
		b.url, parts[0], parts[1], parts[2], parts[3]))
	counted = fmt.Sprintf("%d points", l.Meta.Total)
	if l.Meta.Total == 1 {
		counted = "1 point"
	}
	return b.Text(".map-note strong"), counted
}

// TestMap_bounds zooms a map: the URL has the part that is shown, with which the page is loaded
// again, and the note counts the rows in it. Without a script, links zoom.
func TestMap_bounds(t *testing.T) {
	eachWay(t, func(b *tab, script bool) {
		b.Visit(wide + "/map")
		if script {
			b.drawn()
		}
		all := b.Text(".map-note strong")
		for range 2 {
			before := b.query().Get("_bounds")
			b.Click("[data-zoom='2']")
			b.Until(`(new URLSearchParams(location.search).get("_bounds") ?? "") !== ` + quote(before))
			b.settled()
		}
		said, counted := b.inView()
		if said != counted || said == all || strings.HasPrefix(said, "0 ") {
			b.Errorf("the map says %q, the API counts %q, and without bounds %q", said, counted, all)
		}
		if b.Count(".legend li") == 0 || !eval[bool](b, `document.querySelector(".legend").checkVisibility()`) {
			b.Error("there is no legend")
		}
		if names := eval[int](b,
			`Number(document.getElementById("map").dataset.names ?? document.querySelectorAll(".places text").length)`); names < 5 {
			b.Errorf("the map names %d places", names)
		}
		if !eval[bool](b, `document.querySelector(".land").getAttribute("href").includes("land50")`) {
			b.Error("the part has the coarse coast")
		}
		shown := eval[string](b, `document.querySelector("svg.world").getAttribute("viewBox")`)
		b.Visit(eval[string](b, "location.pathname + location.search"))
		if script {
			b.drawn()
			b.Until(`document.querySelector(".map-note strong").innerText === ` + quote(said))
		} else if got := eval[string](b, `document.querySelector("svg.world").getAttribute("viewBox")`); got != shown {
			b.Errorf("the page shows %s, and loaded again %s", shown, got)
		}
		b.follow("[data-zoom='fit']")
		b.Until(`!location.search.includes("_bounds")`)
		b.Until(`document.querySelector(".map-note strong").innerText === ` + quote(all))
	})
}

// TestMap_phone checks that the map fills a high screen.
func TestMap_phone(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Phone: true})
	b.Visit(wide + "/map")
	b.drawn()
	if share := eval[float64](b, `(() => {
		const [, , w, h] = document.querySelector("svg.world").getAttribute("viewBox").split(" ").map(Number);
		const r = document.querySelector("#map canvas").getBoundingClientRect();
		return 1800 * Math.min(r.width / w, r.height / h) / r.height;
	})()`); share < 0.66 {
		t.Errorf("the world covers %.2f of the height of the map", share)
	}
}

// TestMap_notations draws the points of columns with both coordinates in any notation, and the
// cells of lines and areas.
func TestMap_notations(t *testing.T) {
	t.Parallel()
	l := &library{}
	t.Cleanup(l.stop)
	must.NoError(t, l.open(t.Context()))
	must.NoError(t, l.publishFiles(t.Context(), map[string]string{
		"geo/sites.csv": "name,opened,the_geom\nLima,1990,POINT (-77 -12)\nOslo,2001,POINT (10.7 " +
			"59.9)\nPerth,1984,POINT (115.9 -32)\n",
		"geo/areas.csv": "name,shape\nLima,\"POLYGON ((-78 -13, -76 -13, -76 -11, -78 -13))\"\nOslo,\"LINESTRING " +
			"(10 59, 11 60)\"\nPerth,POINT (115.9 -32)\n",
		"geo/json.csv":  "name,shape\nLima,\"{\"\"type\"\":\"\"Point\"\",\"\"coordinates\"\":[-77,-12]}\"\nOslo,\"{\"\"type\"\":\"\"Point\"\",\"\"coordinates\"\":[10.7,59.9,3]}\"\n",
		"geo/texts.csv": "name,location\nLima,\"-12,-77\"\nOslo,\"59.91,10.75\"\n",
		"geo/quakes.json": `{"type":"FeatureCollection","features":[` + feature("Lima", "-77,-12,4.5") + "," +
			feature("Oslo", "10.7,5.99e1,0") + "]}",
	}))
	must.NoError(t, l.data.Library.Refresh(t.Context()))
	b := open(t, l.serve(t, nil), tabOptions{})
	for name, n := range map[string]int{"sites": 3, "areas": 3, "json": 2, "texts": 2, "quakes": 2} {
		b.Visit("/datasets/geo/" + name + "/map")
		b.drawn()
		if got := b.Text(".map-note strong"); got != fmt.Sprint(n, " points") {
			t.Errorf("%s: the map says %q", name, got)
		}
		if x, y := b.pixelOf(-12, -77); name != "areas" {
			b.Until(`document.querySelector(".legend").innerText.includes("one row")`)
			b.mapMouse(moved, x, y, 0)
			b.Until(`document.querySelector(".map-tip b")?.innerText === "Lima"`)
		}
		if name == "sites" {
			continue
		}
		x0, y0 := b.pixelOf(62, 5)
		x1, y1 := b.pixelOf(55, 15)
		b.mapMouse(pressed, x0, y0, shift)
		b.mapMouse(moved, x1, y1, shift)
		b.mapMouse(released, x1, y1, shift)
		b.Until(`document.querySelector(".chip")?.innerText.includes("longitudes")`)
		b.drawn()
		b.Until(`document.querySelector(".map-note strong").innerText === "1 point"`)
		b.follow(".chip .x")
		b.Until(fmt.Sprintf(`document.querySelector(".map-note strong").innerText === "%d points"`, n))
	}
}

// feature returns a point as a feature of GeoJSON.
func feature(name, position string) string {
	return fmt.Sprintf(`{"type":"Feature","properties":{"name":%q},"geometry":{"type":"Point","coordinates":[%s]}}`,
		name, position)
}

func TestMap_accessibility(t *testing.T) {
	onlyInSoakRuns(t)
	t.Parallel()
	script := axeScript(t)
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(wide + "/map?kind_9=red&_record=2&_color=kind_9&_size=amount_8")
	b.drawn()
	eval[bool](b, script)
	b.axe("map, light", "", `{ rules: { "target-size": { enabled: true } }, resultTypes: ["violations"] }`)
	b.Dark(true)
	b.axe("map, dark", "", colorRules)
	b.Dark(false)
	b.Screen(tabOptions{Phone: true})
	b.axe("map, phone", "", `{ rules: { "target-size": { enabled: true }, "color-contrast": { enabled: false } }, resultTypes: ["violations"] }`)
}

// TestMap_call checks that the bar below a map shows the API call for what is drawn: without a
// script, counts.
func TestMap_call(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		b := open(t, newSite(t, nil), tabOptions{NoScript: !script})
		b.Visit(wide + "/map?latitude[gte]=0")
		b.settled()
		want := map[bool]string{true: "/api/v1/wide/thousand/data?latitude[gte]=0",
			false: "/api/v1/wide/thousand/grid?latitude[gte]=0"}[script]
		if got := b.Text("#call"); !strings.HasPrefix(got, "GET "+want) || strings.Count(got, "/api/") != 1 {
			t.Errorf("script %v: the call is %q, want %q", script, got, want)
		}
	}
}

// TestMap_scales colors and sizes the points of a map by fields: the URL names them, the legend
// explains them, and the points and tips show them.
func TestMap_scales(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	b.Visit(wide + "/map")
	b.drawn()
	choose := func(name, field string) {
		b.next(func() {
			eval[bool](b, fmt.Sprintf(
				`(() => { const s = document.querySelector("select[name=%s]"); s.value = %q; return s.dispatchEvent(new Event("change", { bubbles: true })); })()`, name, field))
		})
	}
	choose("_color", "kind_9")
	choose("_size", "amount_8")
	b.wantQuery("_color=kind_9&_size=amount_8")
	b.Until(`document.querySelectorAll(".legend .key-size").length === 3`)
	if keys := b.Texts(".legend .key-color"); len(keys) < 2 || slices.Contains(keys, "other") {
		t.Errorf("the colors mean %q", keys)
	}
	if label := eval[string](b, `document.querySelector("#map canvas").getAttribute("aria-label")`); !strings.Contains(
		label, "sized by amount_8") || !strings.Contains(label, "colored by kind_9") {
		t.Errorf("the map is called %q", label)
	}
	// A single point has the color of its value.
	b.Visit(wide + "/map?name=Row+85&_color=kind_9&_size=amount_8")
	b.drawn()
	x, y := b.pixelOf(0, 80)
	b.mapMouse(moved, x, y, 0)
	b.Until(`document.querySelector(".map-tip b")?.innerText === "Row 85"`)
	tip := b.Texts(".map-tip div")
	if len(tip) != 2 || !strings.HasPrefix(tip[0], "amount_8 ") || !strings.HasPrefix(tip[1], "kind_9 ") {
		t.Fatalf("the tip has the values %q", tip)
	}
	if off := eval[float64](b, fmt.Sprintf(`(() => {
		const canvas = document.querySelector("#map canvas"), r = canvas.getBoundingClientRect(), ratio = canvas.width / r.width;
		const pixel = canvas.getContext("2d").getImageData((%v - r.x) * ratio, (%v - r.y) * ratio, 1, 1).data;
		const key = [...document.querySelectorAll(".legend .key-color")].find((k) => k.innerText.trim() === %q);
		const want = getComputedStyle(key.querySelector("circle")).fill.match(/[\d.]+/g).map(Number);
		return Math.max(...[0, 1, 2].map((i) => Math.abs(pixel[i] - want[i])));
	})()`, x, y, strings.TrimPrefix(tip[1], "kind_9 "))); off > 3 {
		t.Errorf("the color of the point differs from the legend by %v", off)
	}
	// Fields that cannot be a size are left out of the URL.
	b.Visit(wide + "/map?_size=kind_9&_color=nothing")
	b.drawn()
	b.wantQuery("")
}

// TestMap_projection checks that the coast, points and pointers agree at a high latitude, that
// shapes are true there, and that the scale bar has the length that it says.
func TestMap_projection(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{})
	for _, bounds := range []string{"-10,50,50,75", "60,-10,100,10", "-170,80,-150,89", "-180,-90,180,90"} {
		b.Visit(wide + "/map?_bounds=" + bounds)
		b.drawn()
		shown := eval[[]float64](b, `document.getElementById("map").dataset.view.split(" ").map(Number)`)
		longitude, latitude := (shown[0]+shown[2]/2)/10, -(shown[1]+shown[3]/2)/10
		x0, y0 := b.pixelOf(latitude, longitude)
		x1, _ := b.pixelOf(latitude, longitude+1)
		_, y1 := b.pixelOf(latitude+1, longitude)
		if got, want := (x1-x0)/(y0-y1),
			math.Cos(math.Min(85, math.Abs(latitude))*math.Pi/180); math.Abs(got-want) > 0.01 {
			t.Errorf("%s: a degree of longitude has %.3f of the width of one of latitude, want %.3f", bounds, got, want)
		}
		bar := eval[[]float64](b,
			`(() => { const s = document.querySelector(".map-scale"), [n, unit] = s.innerText.replaceAll(",", "").split(" ");
			return [s.getBoundingClientRect().width, Number(n) * (unit === "km" ? 1 : 0.001)]; })()`)
		if got := bar[0] / (y0 - y1) * 111.195; math.Abs(got/bar[1]-1) > 0.02 {
			t.Errorf("%s: the bar of %v km has the length of %v km", bounds, bar[1], got)
		}
	}
	// A pointer that zooms stays at its place.
	b.Visit(wide + "/map?_bounds=60,-10,100,10")
	b.drawn()
	x, y := b.pixelOf(0, 80)
	call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: x,
		Y: y, DeltaX: 1, DeltaY: -300})
	b.Until(`document.querySelector("svg.world").viewBox.baseVal.width < 300`)
	if x1, y1 := b.pixelOf(0, 80); math.Hypot(x1-x, y1-y) > 1 {
		t.Errorf("the point at the pointer moved from %v, %v to %v, %v", x, y, x1, y1)
	}
}

// TestMap_outside shows all rows of a map that leaves out a few, with a script and without.
func TestMap_outside(t *testing.T) {
	t.Parallel()
	l := &library{}
	t.Cleanup(l.stop)
	must.NoError(t, l.open(t.Context()))
	csv := strings.Builder{}
	csv.WriteString("name,lat,lon\n")
	for i := range 1000 {
		fmt.Fprintf(&csv, "Place %d,52.%03d,13.%03d\n", i, i, i*7%1000)
	}
	csv.WriteString(strings.Repeat("Null island,0,0\n", 5))
	must.NoError(t, l.publishFiles(t.Context(), map[string]string{"geo/outliers.csv": csv.String()}))
	must.NoError(t, l.data.Library.Refresh(t.Context()))
	for _, script := range []bool{true, false} {
		b := open(t, l.serve(t, nil), tabOptions{NoScript: !script})
		b.Visit("/datasets/geo/outliers/map")
		b.settled()
		b.Until(`document.querySelector(".map-note p").innerText.includes("1,000 points")`)
		if got := b.Text(".outside"); got != "5 rows outside" {
			t.Errorf("script %v: the note says %q", script, got)
		}
		b.follow(".outside")
		b.Until(`document.querySelector(".map-note strong").innerText === "1,005 points"`)
		b.follow("[data-zoom='fit']")
		b.Until(`document.querySelector(".outside")?.innerText === "5 rows outside"`)
	}
}

// TestMap_print checks that a printed map has its address and legend, no controls, and the colors
// of the light theme. The canvas has the scale bar.
func TestMap_print(t *testing.T) {
	t.Parallel()
	b := open(t, newSite(t, nil), tabOptions{Dark: true})
	b.Visit(wide + "/map?_color=kind_9")
	b.drawn()
	dark := b.lightnessOf("#map")
	eval[bool](b, `dispatchEvent(new Event("beforeprint"))`)
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for _, selector := range []string{".printed", "#map canvas", ".legend .key-color"} {
		if !eval[bool](b, fmt.Sprintf(`document.querySelector(%q).checkVisibility()`, selector)) {
			t.Errorf("%s is not printed", selector)
		}
	}
	for _, selector := range []string{".map-tools", ".map-scales", ".map-scale"} {
		if eval[bool](b, fmt.Sprintf(`document.querySelector(%q).checkVisibility()`, selector)) {
			t.Errorf("%s is printed", selector)
		}
	}
	if light := b.lightnessOf("#map"); light <= dark {
		t.Errorf("the printed map has the lightness %d, in the dark theme %d", light, dark)
	}
	if height := eval[float64](b, `document.getElementById("map").offsetHeight`); height < 300 {
		t.Errorf("the printed map is %v pixels high", height)
	}
}

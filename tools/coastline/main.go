// Command coastline converts land polygons in TopoJSON to the SVG that maps show behind their points:
//
//	npm pack world-atlas && tar xzf world-atlas-*.tgz
//	go run ./tools/coastline package/land-110m.json > internal/web/assets/land.svg
//
// world-atlas removes the cuts of Natural Earth at the antimeridian. A flat map needs them, so polygons are cut there again,
// and one that contains a pole is extended to it.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: coastline LAND.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "coastline:", err)
		os.Exit(1)
	}
}

func run(file string, out io.Writer) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var t topology
	if err := json.Unmarshal(content, &t); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var path strings.Builder
	for _, g := range t.Objects.Land.Geometries {
		for _, polygon := range g.Arcs {
			for _, ring := range polygon {
				for _, part := range cut(t.ring(ring)) {
					appendPath(&path, part)
				}
			}
		}
	}
	_, err = fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800"><path id="land" d="%s"/></svg>`+"\n", &path)
	return err
}

// topology is a TopoJSON file with one collection of multipolygons.
type topology struct {
	Transform struct{ Scale, Translate [2]float64 }
	Arcs      [][][2]float64
	Objects   struct {
		Land struct {
			Geometries []struct{ Arcs [][][]int }
		}
	}
}

type point struct{ x, y float64 }

// ring returns the points of a ring, in degrees. The last one equals the first.
func (t *topology) ring(arcs []int) (points []point) {
	for _, n := range arcs {
		reversed := n < 0
		if reversed {
			n = ^n
		}
		var arc []point
		var x, y float64
		for _, delta := range t.Arcs[n] {
			x, y = x+delta[0], y+delta[1]
			arc = append(arc, point{x*t.Transform.Scale[0] + t.Transform.Translate[0], y*t.Transform.Scale[1] + t.Transform.Translate[1]})
		}
		if reversed {
			for i, j := 0, len(arc)-1; i < j; i, j = i+1, j-1 {
				arc[i], arc[j] = arc[j], arc[i]
			}
		}
		if len(points) > 0 { // adjacent arcs share a point
			arc = arc[1:]
		}
		points = append(points, arc...)
	}
	return points
}

// cut returns the parts of a ring within the map.
func cut(ring []point) (parts [][]point) {
	shift := 0.0
	line := []point{ring[0]} // without jumps at the antimeridian
	for i := 1; i < len(ring); i++ {
		switch d := ring[i].x - ring[i-1].x; {
		case d > 180:
			shift -= 360
		case d < -180:
			shift += 360
		}
		line = append(line, point{ring[i].x + shift, ring[i].y})
	}
	if shift != 0 { // it surrounds a pole
		first, last := line[0], line[len(line)-1]
		pole := math.Copysign(90, first.y)
		line = append(line, point{last.x, pole}, point{first.x, pole})
	}
	for _, world := range []float64{-360, 0, 360} {
		part := make([]point, len(line))
		for i, p := range line {
			part[i] = point{p.x + world, p.y}
		}
		part = clip(part, func(p point) float64 { return p.x + 180 })
		part = clip(part, func(p point) float64 { return 180 - p.x })
		if len(part) > 2 {
			parts = append(parts, part)
		}
	}
	return parts
}

// clip returns the part of a polygon where inside is not negative. inside is a linear function.
func clip(polygon []point, inside func(point) float64) (clipped []point) {
	for i, p := range polygon {
		before := polygon[(i+len(polygon)-1)%len(polygon)]
		a, b := inside(before), inside(p)
		if a < 0 != (b < 0) {
			s := a / (a - b)
			clipped = append(clipped, point{before.x + s*(p.x-before.x), before.y + s*(p.y-before.y)})
		}
		if b >= 0 {
			clipped = append(clipped, p)
		}
	}
	return clipped
}

// appendPath appends a polygon in tenths of a degree, with y downward.
func appendPath(b *strings.Builder, polygon []point) {
	var x, y, count int
	var path strings.Builder
	for i, p := range polygon {
		nextX, nextY := int(math.Round(10*p.x)), int(math.Round(-10*p.y))
		switch {
		case i == 0:
			fmt.Fprintf(&path, "M%d", nextX)
			writeNumber(&path, nextY)
			path.WriteByte('l')
		case nextX == x && nextY == y:
			continue
		default:
			if count > 0 {
				writeNumber(&path, nextX-x)
			} else {
				path.WriteString(strconv.Itoa(nextX - x))
			}
			writeNumber(&path, nextY-y)
			count++
		}
		x, y = nextX, nextY
	}
	if count > 1 {
		b.WriteString(path.String() + "z")
	}
}

// writeNumber writes a number after another one.
func writeNumber(b *strings.Builder, n int) {
	if n >= 0 {
		b.WriteByte(' ')
	}
	b.WriteString(strconv.Itoa(n))
}

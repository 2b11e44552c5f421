package report

import (
	"fmt"
	"time"

	"herbarium/bench/internal/plot"
)

// Where the plots are.
const (
	plotsDir   = "plots"
	shapesPlot = plotsDir + "/shapes.svg"
	depthPlot  = plotsDir + "/depth.svg"
	sizePlot   = plotsDir + "/size.svg"
)

// The names of the servers for people.
const (
	nameHerbarium = "Herbarium"
	namePeer      = "SQLite, count(*) and OFFSET"
	nameFloor     = "constant body"
)

func plots(r Results) map[string][]byte {
	files := map[string][]byte{}
	if r.Main != nil {
		files[shapesPlot] = shapesFigure(r.Main).SVG()
		files[depthPlot] = depthFigure(r.Main).SVG()
		files[sizePlot] = sizeFigure(r).SVG()
	}
	return files
}

func seconds(m *Measure) float64 {
	if m == nil {
		return 0
	}
	return m.P50.Seconds()
}

func shapesFigure(run *Run) plot.Bars {
	size := run.Largest()
	f := plot.Bars{
		Title:    "Latency by shape of query, " + count(size.Records) + " records",
		Subtitle: "median over HTTP, one connection, 25 records with an exact total; logarithmic",
		Series: []plot.Series{
			{Name: nameHerbarium, Color: plot.Green},
			{Name: namePeer, Color: plot.Orange},
			{Name: nameFloor, Color: plot.Gray},
		},
	}
	for _, s := range size.Shapes {
		f.Labels = append(f.Labels, s.Title)
		for i, m := range []*Measure{s.One.Herbarium, s.One.Peer, s.One.Floor} {
			f.Series[i].Values = append(f.Series[i].Values, seconds(m))
		}
	}
	return f
}

func depthFigure(run *Run) plot.Lines {
	f := plot.Lines{
		Title:    "Latency by depth of the page, " + count(run.Largest().Records) + " records",
		Subtitle: "median over HTTP, one connection; logarithmic",
		XTitle:   "page, in percent of all pages",
	}
	for _, query := range depthQueries(run) {
		ours := plot.Series{Name: nameHerbarium, Color: plot.Green}
		theirs := plot.Series{Name: namePeer, Color: plot.Orange}
		f.X, f.XLabels = nil, nil
		for _, d := range run.Depths {
			if d.Query != query {
				continue
			}
			f.X = append(f.X, float64(d.Percent))
			f.XLabels = append(f.XLabels, fmt.Sprint(d.Percent))
			ours.Values = append(ours.Values, seconds(d.Systems.Herbarium))
			theirs.Values = append(theirs.Values, seconds(d.Systems.Peer))
		}
		f.Panels = append(f.Panels, plot.Panel{Title: orderName(query), Series: []plot.Series{ours, theirs}})
	}
	return f
}

func orderName(query string) string {
	if query == "" {
		return "no sort"
	}
	return query
}

// depthQueries are the queries that were asked at several depths, each once.
func depthQueries(run *Run) []string {
	var out []string
	for _, d := range run.Depths {
		if len(out) == 0 || out[len(out)-1] != d.Query {
			out = append(out, d.Query)
		}
	}
	return out
}

func sizeFigure(r Results) plot.Lines {
	f := plot.Lines{
		Title:    "Latency by number of records",
		Subtitle: "median over HTTP, one connection; both axes logarithmic",
		XTitle:   "records",
		LogX:     true,
	}
	sizes := allSizes(r)
	for _, s := range sizes {
		f.X = append(f.X, float64(s.Records))
		f.XLabels = append(f.XLabels, short(s.Records))
	}
	for _, name := range []string{"first", "sort-middle", "category-sort", "common-word-category-sort", "two-words", "common-word"} {
		p := plot.Panel{Series: []plot.Series{
			{Name: nameHerbarium, Color: plot.Green}, {Name: namePeer, Color: plot.Orange},
		}}
		for _, size := range sizes {
			s := size.shape(name)
			if s.Title != "" {
				p.Title = s.Title
			}
			p.Series[0].Values = append(p.Series[0].Values, seconds(s.One.Herbarium))
			p.Series[1].Values = append(p.Series[1].Values, seconds(s.One.Peer))
		}
		f.Panels = append(f.Panels, p)
	}
	return f
}

// allSizes are the sizes of both runs. Where both have one, that of the main run counts.
func allSizes(r Results) []Size {
	var out []Size
	if r.Main != nil {
		out = append(out, r.Main.Sizes...)
	}
	if r.Large != nil {
		for _, s := range r.Large.Sizes {
			if len(out) == 0 || s.Records > out[len(out)-1].Records {
				out = append(out, s)
			}
		}
	}
	return out
}

// shape returns the figures of a shape, empty ones where it was not measured.
func (s Size) shape(name string) Shape {
	for _, shape := range s.Shapes {
		if shape.Name == name {
			return shape
		}
	}
	return Shape{}
}

// short writes 1000000 as 1M.
func short(n int) string {
	switch {
	case n >= 1_000_000 && n%100_000 == 0:
		return fmt.Sprintf("%gM", float64(n)/1e6)
	case n >= 1000 && n%100 == 0:
		return fmt.Sprintf("%gk", float64(n)/1e3)
	default:
		return fmt.Sprint(n)
	}
}

// count writes 1000000 as 1,000,000.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// took writes a duration with three digits.
func took(d time.Duration) string { return plot.Seconds(d.Seconds()) }

package plot

import (
	"math"
	"slices"
)

// rows draws bars from left to right, one group below the other.
func (f *Figure) rows(kind Kind, d Data) {
	const pitch, thickness, thin = 30, 20, 14
	stacked := kind == Stacked
	labels := f.labelColumn(d.Groups)
	values := 0.0
	each := func(g int, use func(text string)) {
		switch {
		case stacked:
			use(d.Groups[g].Total)
		default:
			for _, s := range d.Series {
				use(s.Cells[g].Text)
			}
		}
	}
	for g := range d.Groups {
		each(g, func(text string) { values = math.Max(values, TextWidth(text, nameSize)) })
	}
	if !stacked && len(d.Series) > 1 {
		values += f.nameWidth(d) + 6
	}
	top := 4.0
	if stacked && len(d.Series) > 1 {
		top = 28 // the names of the series
	}
	low, high := valueRange(d, stacked)
	x := newScale(low, high, labels+10, math.Max(f.Width-values-10, labels+40))
	zero := x.at(math.Max(low, 0))
	y := top
	var wanted []float64
	for g, group := range d.Groups {
		height := float64(thickness)
		if !stacked {
			height = math.Max(thickness, thin*float64(len(d.Series)))
		}
		f.text(labels, y+height/2+4, "end", "label", Clip(group.Label, nameSize, labels))
		up, down := zero, zero
		for i, s := range d.Series {
			c := s.Cells[g]
			if !stacked {
				each := height / float64(len(d.Series))
				f.row(d, g, i, zero, x.at(c.Value), y+each*float64(i), each-min(each-2, float64(len(d.Series)-1)))
				continue
			}
			from, to := &up, x.at(c.Value)-zero
			if to < 0 {
				from = &down
			}
			if !c.Known {
				to = 0
			}
			f.shapeRow(className(d, i), *from, *from+to, y, height)
			f.hit(d, g, g, i, rectangle(math.Min(*from, *from+to), y, math.Max(math.Abs(to), 0.5), height))
			if g == 0 {
				wanted = append(wanted, *from+to/2)
			}
			*from += to
		}
		if stacked {
			f.text(up+7, y+height/2+4, "start", "value", group.Total)
		}
		y += height + pitch - thickness
	}
	f.Height = y
	f.shape("rule base", "M"+join(zero, top-2)+"V"+join(y-6))
	if stacked && len(d.Series) > 1 {
		f.namesAbove(d, wanted, labels+10, top-12)
	}
}

// row draws the bar of a value with its text.
func (f *Figure) row(d Data, g, i int, zero, end, y, height float64) {
	s := d.Series[i]
	c := s.Cells[g]
	if !c.Known {
		end = zero
	}
	f.shapeRow(className(d, i), zero, end, y, height)
	at, text := math.Max(zero, end)+7, c.Text
	f.text(at, y+height/2+4, "start", "value", text)
	if g == 0 && len(d.Series) > 1 {
		f.text(at+TextWidth(text, nameSize)+6, y+height/2+4, "start", "name "+className(d, i),
			Clip(s.Name, nameSize, f.nameWidth(d)))
	}
	f.hit(d, g, g, i, rectangle(0, y, f.Width, height))
}

func (f *Figure) shapeRow(class string, from, to, y, height float64) {
	f.shape("box "+class, rectangle(math.Min(from, to), y, math.Abs(to-from), height))
}

// namesAbove writes the names of the series above the parts of the first bar.
func (f *Figure) namesAbove(d Data, wanted []float64, low, y float64) {
	width := (f.Width - low) / float64(len(d.Series)) // of each, if not all fit
	texts, sizes, sum := make([]string, len(wanted)), make([]float64, len(wanted)), 0.0
	measure := func() {
		sum = 0
		for i := range wanted {
			sizes[i] = TextWidth(texts[i], nameSize) + 12
			sum += sizes[i]
		}
	}
	for i := range wanted {
		texts[i] = d.Series[i].Name
	}
	measure()
	if sum > f.Width-low {
		for i := range texts {
			texts[i] = Clip(texts[i], nameSize, width-12)
		}
		measure()
	}
	for i, x := range Spread(wanted, sizes, low, f.Width) {
		f.text(x, y, "middle", "name "+className(d, i), texts[i])
	}
}

// labelColumn returns the width of the labels of groups that are names.
func (f *Figure) labelColumn(groups []Group) float64 {
	widest := 0.0
	for _, g := range groups {
		widest = math.Max(widest, TextWidth(g.Label, nameSize))
	}
	return math.Ceil(math.Min(widest, f.Width*0.3))
}

// heat draws a cell for each value. Intervals are columns; names are rows.
func (f *Figure) heat(d Data) {
	const narrowest = 3 // column, in pixels
	all := d
	if d.Intervals {
		d = f.thin(d, int((f.Width-f.labelColumn(names(d.Series))-10)/narrowest))
	}
	rows, columns := names(d.Series), d.Groups
	position := func(r, c int) (group, series int) { return c, r }
	if !d.Intervals {
		rows, columns = d.Groups, names(d.Series)
		position = func(r, c int) (group, series int) { return r, c }
	}
	left := f.labelColumn(rows) + 10
	width := (f.Width - left) / float64(len(columns))
	height := math.Max(20, math.Min(40, 360/float64(len(rows))))
	top := 6.0
	if !d.Intervals {
		top = 26 // the names of the columns
	}
	colors, hasNone := newLevels(valueRange(d, false)), false
	across := newScale(all.Groups[0].At, all.Groups[len(all.Groups)-1].Next, left, f.Width)
	for r := range rows {
		y := top + height*float64(r)
		f.text(left-8, y+height/2+4, "end", "label", Clip(rows[r].Label, nameSize, left-10))
		for c := range columns {
			group, series := position(r, c)
			v := d.Series[series].Cells[group]
			from, to := left+width*float64(c), left+width*float64(c+1)
			if d.Intervals {
				from = across.at(d.Groups[c].At)
				to = max(across.at(d.Groups[c].Next), from+0.5)
			}
			gap := min(1, (to-from)/4)
			area := rectangle(from+gap/2, y+0.5, to-from-gap, height-1)
			class := colors.classOf(v)
			hasNone = hasNone || class == noneClass
			f.shape(class, area)
			f.hit(d, group, group, series, area)
		}
	}
	f.Height = top + height*float64(len(rows)) + 8
	if d.Intervals {
		f.Height += 20
		first, last := all.Groups[0].At, all.Groups[len(all.Groups)-1].Next
		f.axis(all, f.Height-8, axisSpan{from: first, to: last, at: across.at, bars: true})
	} else {
		for c := range columns {
			f.text(left+width*(float64(c)+0.5), top-10, "middle", "tick", Clip(columns[c].Label, textSize, width-6))
		}
	}
	labels := FormatTicks(colors[:colors.len()+1])
	labels[len(labels)-1] = WithUnit(labels[len(labels)-1], d.Unit)
	f.legend(colors, labels, hasNone)
}

// names returns series as groups.
func names(series []Series) []Group {
	groups := make([]Group, len(series))
	for i, s := range series {
		groups[i].Label = s.Name
	}
	return groups
}

// Small lays out a chart without texts, for a preview.
func Small(kind Kind, d Data) Figure {
	const width, height, rows = 124, 46, 5
	f := &Figure{Width: width, Height: height}
	if d.Scatter != nil && len(d.Scatter.Points) > 0 {
		f.smallScatter(d.Scatter)
		return *f
	}
	if len(d.Groups) == 0 || len(d.Series) == 0 {
		return *f
	}
	cells := d.Series[0].Cells
	low, high := valueRange(Data{Groups: d.Groups, Series: d.Series, FromZero: d.FromZero || kind != Lines}, false)
	y := newScale(low, high, height-2, 2)
	switch {
	case kind == Heat:
		columns, lines := min(len(d.Groups), 12), min(len(d.Series), rows)
		colors := newLevels(low, high)
		for r := range lines {
			for c := range columns {
				v := d.Series[r].Cells[len(d.Groups)-columns+c]
				w := width / float64(columns)
				f.shape(colors.classOf(v), rectangle(w*float64(c), 9*float64(r), w-1, 8))
			}
		}
	case d.Intervals && kind == Lines && len(cells) > 1:
		for i, s := range slices.Backward(d.Series) { // the largest is above the others
			path, move := "", "M"
			for g, c := range s.Cells {
				if d.Gaps && !c.Known {
					move = "M"
				}
				if c.Known {
					path += move + join(2+float64(g)*(width-4)/float64(len(cells)-1), y.at(c.Value))
					move = "L"
				}
			}
			f.shape("curve "+className(d, i), path)
		}
	case d.Intervals:
		w := width / float64(len(cells))
		for g, c := range cells {
			if c.Known {
				f.shape("box s1", rectangle(w*float64(g), math.Min(y.at(c.Value), y.at(0)), w*0.85,
					math.Abs(y.at(c.Value)-y.at(0))))
			}
		}
	default:
		bar := newScale(0, math.Max(high, -low), 0, width)
		for g, c := range cells[:min(len(cells), rows)] {
			class := "box soft"
			if g == 0 {
				class = "box s1"
			}
			f.shape(class, rectangle(0, 9*float64(g), math.Max(1, bar.at(math.Abs(c.Value))), 6))
		}
	}
	return *f
}

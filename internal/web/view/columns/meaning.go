package columns

import (
	"cmp"
	"slices"
	"sync"

	"herbarium/internal/herb"
	"herbarium/internal/text"
)

// Meaning is what a column means to a reader, as its type, its name and the publish report show it.
type Meaning struct {
	Kind   Kind
	IsCode bool               // the digits of its numbers are not grouped
	IsYear bool               // its numbers are years, an axis of time
	Mode   FilterMode         // how it is filtered
	Report *herb.ColumnReport // nil: there is none
	// Categories are the values that the field may have, with what they mean.
	Categories text.Categories
}

// Shown returns a value of a field as a reader reads it: its category label, if it has one.
func (d *Dataset) Shown(field int, value string) string {
	return cmp.Or(d.Meanings[field].Categories.Label(value), value)
}

// ShownRows returns rows with their values as readers read them.
func (d *Dataset) ShownRows(rows []herb.Record) []herb.Record {
	if !slices.ContainsFunc(d.Meanings, func(m Meaning) bool { return m.Categories.HasLabels() }) {
		return rows
	}
	shown := make([]herb.Record, len(rows))
	for n, row := range rows {
		shown[n] = slices.Clone(row)
		for i, value := range row {
			shown[n][i] = d.Shown(i, value)
		}
	}
	return shown
}

// Columns is what the columns of a version mean.
type Columns struct {
	Meanings []Meaning // by the position of the field
	Naming   int       // position of the field whose values name the records
	Titles   int       // position of the field whose values are the titles of records
	Images   []int     // positions of the fields with images
	Pairs    []Pair    // of coordinates
	Charts   []Chart   // that they suggest, the best first

	scales scales
}

// Dataset is a version with what its columns mean.
type Dataset struct {
	*herb.Dataset
	*Columns
}

// Read decides what the columns of a version mean.
func Read(d *herb.Dataset) *Dataset {
	all := &Dataset{d, &Columns{Meanings: make([]Meaning, len(d.Fields))}}
	for i := range d.Fields {
		m := &all.Meanings[i]
		m.Report = reportOf(d, i)
		m.Kind, m.Mode = kindOf(d, i, m.Report), modeOf(d, i, m.Report)
		m.Categories = text.NewCategories(&d.Fields[i])
		isCategory := len(d.Fields[i].Categories) > 0
		m.IsCode = m.Kind == KindCode || isCategory ||
			m.Kind == KindNumber && isNumbering(d.Fields[i].Name, m.Report)
		m.IsYear = m.Kind == KindCode && isYearColumn(&d.Fields[i], m.Report)
		if m.Kind == KindImage {
			all.Images = append(all.Images, i)
		}
	}
	all.Naming, all.Titles = namingColumns(all)
	all.Pairs = mapPairs(d)
	all.Charts = suggestCharts(all)
	return all
}

// reportOf returns the publish report of a field; nil if there is none.
func reportOf(d *herb.Dataset, i int) *herb.ColumnReport {
	if d.Report == nil || i >= len(d.Report.Columns) || d.Report.Columns[i].Field != d.Fields[i].Name {
		return nil
	}
	return &d.Report.Columns[i]
}

// maxCached is how many columns a Cache describes.
const maxCached = 100_000

// Cache keeps what the columns of versions mean, so that it is decided once per version. It is safe
// for concurrent use.
type Cache struct {
	mu      sync.Mutex
	known   map[versionKey]*Dataset
	columns int // of all known versions
}

type versionKey struct {
	herb.Ref
	version string
}

// Read returns what Read does. It is decided again if the version is described otherwise, such as
// to a visitor who may not see its values.
func (c *Cache) Read(d *herb.Dataset) *Dataset {
	if len(d.Fields) == 0 || d.Version == "" {
		return Read(d)
	}
	key := versionKey{d.Ref, d.Version}
	c.mu.Lock()
	e, ok := c.known[key]
	c.mu.Unlock()
	if ok && &e.Fields[0] == &d.Fields[0] && e.Report == d.Report && len(e.Coordinates) == len(d.Coordinates) &&
		e.Records == d.Records {
		return &Dataset{d, e.Columns}
	}
	read := Read(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		c.columns -= len(e.Meanings)
	}
	c.columns += len(d.Fields)
	if c.known == nil || c.columns > maxCached {
		c.known, c.columns = map[versionKey]*Dataset{}, len(d.Fields)
	}
	kept := *d // without the request that contains it
	c.known[key] = &Dataset{&kept, read.Columns}
	return read
}

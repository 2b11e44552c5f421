package plants

import (
	"herbarium/internal/herb"
	"herbarium/internal/segment"
)

// Segments in memory are on levels: those of up to 16 plants on the first, of up to 128 on the
// second, of up to 1,024 on the third and so on.
const (
	firstLevel  = 16
	levelGrowth = 8
)

// level returns the level of a segment of n plants.
func level(n int) (level int) {
	for limit := firstLevel; n > limit; limit *= levelGrowth {
		level++
	}
	return level
}

// append adds the next plants of the log in a segment in memory. The new segment replaces the last
// ones that are not on a higher level, so that there are few segments, and a listing after a
// creation builds a small one in most cases. mu is held.
func (x *Index) append(records []herb.Record) error {
	first, start, n := len(x.parts), x.end.plants, len(records)
	for first > x.files() {
		last := x.parts[first-1].reader.Len()
		if start-last < x.frozen || level(last) > level(n) {
			break
		}
		first, start, n = first-1, start-last, n+last
	}
	return x.replaceInMemory(first, records)
}

// replaceInMemory replaces the segments from number first on, which are in memory, by one that also
// has the next plants of the log. mu is held.
func (x *Index) replaceInMemory(first int, next []herb.Record) error {
	var all []herb.Record
	for _, p := range x.parts[first:] {
		for record, err := range p.reader.Records(x.closed) {
			if err != nil {
				return err
			}
			all = append(all, record)
		}
	}
	r, err := segment.InMemory(x.closed, herb.PlantFields(), append(all, next...))
	if err != nil {
		return err
	}
	for _, p := range x.parts[first:] {
		_ = p.reader.Release() // does not fail in memory
	}
	x.parts = append(x.parts[:first:first], &part{reader: r})
	return nil
}

// files returns the number of segments that are files. mu is held.
func (x *Index) files() (n int) {
	for n < len(x.parts) && x.parts[n].path != "" {
		n++
	}
	return n
}

// inMemory returns the number of plants in memory. mu is held.
func (x *Index) inMemory() (plants int) {
	for _, p := range x.parts[x.files():] {
		plants += p.reader.Len()
	}
	return plants
}

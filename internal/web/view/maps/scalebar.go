package maps

import (
	"encoding/json"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// unitMeters is the length of a unit of the map, a tenth of a degree of latitude, in meters. In the
// middle of a map it is the same from west to east.
const unitMeters = 11_119.5

// UnitMeters returns the length of a unit of the map in meters, for the script.
func (m *Map) UnitMeters() float64 { return unitMeters }

// ScaleBar is the line of a round length at the bottom right of a map, in the unit of the SVG.
type ScaleBar struct {
	Left, Right, Y, Tick float64
	TextY                float64
	Label                string
}

// newScaleBar returns the line of at most an eighth of the width of a part.
func newScaleBar(b query.Bounds) ScaleBar {
	c := Stretch(b)
	width, height := 10*c*(b.MaxX-b.MinX), 10*(b.MaxY-b.MinY)
	length := roundLengths()[0]
	for _, l := range roundLengths() {
		if l.meters <= width/8*unitMeters {
			length = l
		}
	}
	right, bottom := 10*c*b.MaxX-width/50, -10*b.MinY-height/40
	tick := c * labelSize / scaleOf(b) / 2
	return ScaleBar{Left: right - length.meters/unitMeters, Right: right, Y: bottom, Tick: bottom - tick,
		TextY: bottom - 2*tick, Label: length.label}
}

// roundLength is a round length in meters, with its text. It is an array in JSON.
type roundLength struct {
	meters float64
	label  string
}

// MarshalJSON implements json.Marshaler.
func (l roundLength) MarshalJSON() ([]byte, error) { return json.Marshal([]any{l.meters, l.label}) }

// roundLengths returns 1, 2 and 5 times powers of ten, from a meter to beyond the world.
func roundLengths() (all []roundLength) {
	const most = 100_000_000
	for power := 1; power < most; power *= 10 {
		for _, meters := range []int{power, 2 * power, 5 * power} {
			label := strconv.Itoa(meters) + " m"
			if meters >= 1000 {
				label = herb.Count(meters/1000) + " km"
			}
			all = append(all, roundLength{float64(meters), label})
		}
	}
	return all
}

// Lengths returns the round lengths of scale bars as JSON for the script.
func (m *Map) Lengths() string {
	encoded, _ := json.Marshal(roundLengths()) // strings and finite numbers
	return string(encoded)
}

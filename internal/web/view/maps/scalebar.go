package maps

import (
	"math"
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
	meters := roundLength(width / 8 * unitMeters)
	right, bottom := 10*c*b.MaxX-width/50, -10*b.MinY-height/40
	label := strconv.Itoa(int(meters)) + " m"
	if meters >= 1000 {
		label = herb.Count(int(meters/1000)) + " km"
	}
	tick := c * labelSize / scaleOf(b) / 2
	return ScaleBar{Left: right - meters/unitMeters, Right: right, Y: bottom, Tick: bottom - tick, TextY: bottom - 2*tick, Label: label}
}

// roundLength returns the greatest of 1, 2 and 5 times a power of ten that is not above a length.
func roundLength(length float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(length)))
	for _, factor := range []float64{5, 2} {
		if factor*power <= length {
			return factor * power
		}
	}
	return power
}

package share

import (
	"strconv"
	"strings"
)

// transform moves and scales a path. Its width is stretched besides.
type transform struct{ x, y, scale, stretch float64 }

func (t transform) apply(p point) point { return point{t.x + p.x*t.scale*t.stretch, t.y + p.y*t.scale} }

// parsePath parses the SVG path data that the charts, the coast and the icon of the pages consist
// of: lines and cubic curves.
func parsePath(data string, t transform) (s shape) {
	p := pathParser{rest: data, transform: t}
	for p.next() {
		p.add()
	}
	return p.shape
}

type pathParser struct {
	transform
	rest      string
	command   byte
	at, start point
	shape     shape
}

// next advances to the next command, which may be the last one repeated. It is false at the end,
// and at data that is not a path.
func (p *pathParser) next() bool {
	p.rest = strings.TrimLeft(p.rest, " ,\n")
	if p.rest == "" {
		return false
	}
	if strings.IndexByte("MmLlHhVvCcZz", p.rest[0]) >= 0 {
		p.command, p.rest = p.rest[0], p.rest[1:]
		return true
	}
	switch p.command { // the following points of a move are lines
	case 'M':
		p.command = 'L'
	case 'm':
		p.command = 'l'
	}
	return p.command != 0 && p.command != 'Z' && p.command != 'z' && strings.IndexByte("+-.0123456789", p.rest[0]) >= 0
}

// number reads a number: "-3.5.5-1" is three of them.
func (p *pathParser) number() float64 {
	p.rest = strings.TrimLeft(p.rest, " ,\n")
	end, point := 0, false
	for ; end < len(p.rest); end++ {
		b := p.rest[end]
		if b == '.' && !point {
			point = true
		} else if (b < '0' || b > '9') && !(end == 0 && (b == '-' || b == '+')) {
			break
		}
	}
	n, _ := strconv.ParseFloat(p.rest[:end], 64) // 0 at the end of incomplete data
	p.rest = p.rest[max(end, min(1, len(p.rest))):]
	return n
}

func (p *pathParser) add() {
	relative := point{}
	if p.command >= 'a' {
		relative = p.at
	}
	pair := func() point { x, y := p.number(), p.number(); return point{relative.x + x, relative.y + y} }
	switch p.command {
	case 'M', 'm':
		p.at = pair()
		p.start = p.at
		p.shape = append(p.shape, []point{p.apply(p.at)})
	case 'L', 'l':
		p.lineTo(pair())
	case 'H', 'h':
		p.lineTo(point{relative.x + p.number(), p.at.y})
	case 'V', 'v':
		p.lineTo(point{p.at.x, relative.y + p.number()})
	case 'C', 'c':
		from, a, b, to := p.at, pair(), pair(), pair()
		for _, q := range curve(from, a, b, to) {
			p.lineTo(q)
		}
	case 'Z', 'z':
		p.lineTo(p.start)
	}
}

// lineTo adds a line to a point. After a closed contour it begins another one.
func (p *pathParser) lineTo(to point) {
	if len(p.shape) == 0 {
		p.shape = append(p.shape, []point{p.apply(p.at)})
	}
	last := len(p.shape) - 1
	p.shape[last] = append(p.shape[last], p.apply(to))
	p.at = to
}

// curve returns points on a cubic curve, without its start.
func curve(from, a, b, to point) []point {
	const steps = 8
	points := make([]point, steps)
	for i := range points {
		t := float64(i+1) / steps
		u := 1 - t
		w0, w1, w2, w3 := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		points[i] = point{w0*from.x + w1*a.x + w2*b.x + w3*to.x, w0*from.y + w1*a.y + w2*b.y + w3*to.y}
	}
	return points
}

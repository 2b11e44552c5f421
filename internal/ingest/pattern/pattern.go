// Package pattern matches values with the regular expressions of a descriptor, in bounded time: it
// counts the steps of each match.
package pattern

import (
	"regexp/syntax"
	"unicode/utf8"

	"herbarium/internal/herb"
)

// Limits of patterns.
const (
	maxBytes        = 4 << 10 // of a pattern
	maxInstructions = 2_000   // of the program of a pattern
	// MaxInstructions is the maximum size of the programs of all patterns of a schema together.
	MaxInstructions = 100_000

	// freeSteps is the number of steps for each byte of a value that no budget limits: usual
	// patterns take fewer. A step takes some nanoseconds.
	freeSteps = 100
	maxSteps  = 200_000_000 // beyond freeSteps, of all values that share a budget
)

// Pattern is a regular expression for whole values. It is used by one goroutine at a time.
type Pattern struct {
	program   *syntax.Prog
	now, next threads
	pending   []uint32 // instructions that add has not visited yet
}

// parse returns the syntax tree of a pattern and the size of its program, which is not built yet.
func parse(expression string) (*syntax.Regexp, int, error) {
	if len(expression) > maxBytes {
		return nil, 0, herb.Invalidf("has %s bytes; a pattern has at most %s",
			herb.Count(len(expression)), herb.FormatBytes(maxBytes))
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, 0, herb.Invalidf(
			"is %q, which is not supported: %v; write a regular expression in the syntax of RE2",
			herb.Clip(expression, shown), err)
	}
	n := size(tree)
	if n > maxInstructions {
		return nil, 0, herb.Invalidf("is %q, which compiles to about %s instructions; a pattern has at most %s: "+
			"write smaller repetitions, or use minLength and maxLength",
			herb.Clip(expression, shown), herb.Count(n), herb.Count(maxInstructions))
	}
	return tree, n, nil
}

const shown = 60 // characters of a pattern in a message

// Check fails if a pattern is not valid or too large.
func Check(expression string) error {
	_, _, err := parse(expression)
	return err
}

// Size returns the number of instructions of the program of a pattern.
func (p *Pattern) Size() int { return len(p.program.Inst) }

// Compile returns a pattern.
func Compile(expression string) (*Pattern, error) {
	tree, _, err := parse(expression)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, err
	}
	n := len(program.Inst)
	return &Pattern{program: program, now: newThreads(n), next: newThreads(n)}, nil
}

// size returns about how many instructions the program of an expression has: repetitions are
// copied.
func size(e *syntax.Regexp) int {
	n := 0
	for _, part := range e.Sub {
		n += size(part)
	}
	switch e.Op {
	case syntax.OpLiteral:
		n = len(e.Rune)
	case syntax.OpCapture, syntax.OpStar:
		n += 2
	case syntax.OpPlus, syntax.OpQuest:
		n++
	case syntax.OpAlternate:
		n += len(e.Sub) - 1
	case syntax.OpRepeat:
		if e.Max < 0 {
			n = n*max(e.Min, 1) + 2
		} else {
			n = n*e.Max + e.Max - e.Min
		}
	}
	return max(n, 1)
}

// Budget limits the steps of matches. Patterns of a file share one.
type Budget struct{ left int }

// NewBudget returns the budget of a file.
func NewBudget() Budget { return Budget{left: maxSteps} }

// Exceeded reports whether a match has ended without a result, because it would have taken too
// many steps.
func (b *Budget) Exceeded() bool { return b.left < 0 }

// ErrSteps returns the error for a pattern whose match exceeded a budget.
func ErrSteps(expression string) error {
	return herb.Invalidf("checking the pattern %q takes too long: more than %s steps beyond %d for each byte; "+
		"write it without repetitions of what may be empty",
		herb.Clip(expression, shown), herb.Count(maxSteps), freeSteps)
}

// Match reports whether a pattern matches a whole value. The result has no meaning if the budget is
// exceeded.
func (p *Pattern) Match(value string, b *Budget) bool {
	steps := 0
	free := freeSteps * (len(value) + 1)
	limit := free + b.left
	defer func() { b.left -= max(0, steps-free) }()

	before, after := rune(-1), rune(-1)
	width := 0
	p.now.clear()
	for at := 0; ; {
		after, width = -1, 0
		if at < len(value) {
			after, width = utf8.DecodeRuneInString(value[at:])
		}
		if at == 0 {
			steps += p.add(&p.now, uint32(p.program.Start), syntax.EmptyOpContext(before, after))
		}
		if at == len(value) || len(p.now.dense) == 0 || steps > limit {
			break
		}
		at += width
		following := rune(-1)
		if at < len(value) {
			following, _ = utf8.DecodeRuneInString(value[at:])
		}
		context := syntax.EmptyOpContext(after, following)
		p.next.clear()
		for _, i := range p.now.dense {
			instruction := &p.program.Inst[i]
			steps++
			if instruction.Op != syntax.InstMatch && instruction.MatchRune(after) {
				steps += p.add(&p.next, instruction.Out, context)
			}
		}
		p.now, p.next = p.next, p.now
		before = after
	}
	for _, i := range p.now.dense {
		if p.program.Inst[i].Op == syntax.InstMatch {
			return true
		}
	}
	return false
}

// add adds the instructions that consume a character, or match, and can be reached from one
// without consuming any. It returns the number of steps.
func (p *Pattern) add(to *threads, first uint32, context syntax.EmptyOp) (steps int) {
	p.pending = append(p.pending[:0], first)
	for len(p.pending) > 0 {
		last := len(p.pending) - 1
		i := p.pending[last]
		p.pending = p.pending[:last]
		steps++
		if to.visited(i) {
			continue
		}
		instruction := &p.program.Inst[i]
		switch instruction.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			p.pending = append(p.pending, instruction.Out, instruction.Arg)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(instruction.Arg)&^context == 0 {
				p.pending = append(p.pending, instruction.Out)
			}
		case syntax.InstCapture, syntax.InstNop:
			p.pending = append(p.pending, instruction.Out)
		case syntax.InstFail:
		default:
			to.dense = append(to.dense, i)
		}
	}
	return steps
}

// threads is a set of instructions, and of those that were visited to find them.
type threads struct {
	dense []uint32
	mark  []uint32 // generation in which an instruction was visited
	now   uint32   // generation
}

func newThreads(n int) threads { return threads{mark: make([]uint32, n)} }

func (t *threads) clear() {
	t.dense = t.dense[:0]
	t.now++
	if t.now == 0 { // the generation starts again
		clear(t.mark)
		t.now = 1
	}
}

// visited reports whether an instruction was visited before, and marks it.
func (t *threads) visited(i uint32) bool {
	before := t.mark[i] == t.now
	t.mark[i] = t.now
	return before
}

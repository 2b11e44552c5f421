package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strings"

	"herbarium/internal/herb"
)

// merge calls visit for the entries of two streams in their common order; an entry that one of them
// lacks is nil.
func merge(source, target iter.Seq2[Entry, error], visit func(s, t Entry) error) error {
	nextSource, stopSource := iter.Pull2(source)
	defer stopSource()
	nextTarget, stopTarget := iter.Pull2(target)
	defer stopTarget()
	s, sourceErr, _ := nextSource()
	t, targetErr, _ := nextTarget()
	for {
		if err := errors.Join(sourceErr, targetErr); err != nil || s == nil && t == nil {
			return err
		}
		order := compareOrder(s, t)
		var inSource, inTarget Entry
		if order <= 0 {
			inSource = s
			s, sourceErr, _ = nextSource()
		}
		if order >= 0 {
			inTarget = t
			t, targetErr, _ = nextTarget()
		}
		if err := visit(inSource, inTarget); err != nil {
			return err
		}
	}
}

// compareOrder compares the positions of two entries. nil is the end of a stream.
func compareOrder(a, b Entry) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	sectionA, idA := a.position()
	sectionB, idB := b.position()
	return cmp.Or(cmp.Compare(sectionA, sectionB), strings.Compare(idA, idB))
}

// differs returns the error for the first difference.
func differs(format string, args ...any) error {
	return herb.Errorf(herb.CodeRejected, "source and target differ: "+format, args...)
}

// compareEqual fails unless both sides have the same entry.
func compareEqual(s, t Entry) error {
	switch {
	case t == nil:
		return differs("%s is in the source but not in the target", s)
	case s == nil:
		return differs("%s is in the target but not in the source; remove it from the target if it is not needed", t)
	}
	if a, b := encode(s), encode(t); a != b {
		return differs("%s: %s", s, firstDifference(a, b))
	}
	return nil
}

// firstDifference shows where two encoded entries begin to differ.
func firstDifference(a, b string) string {
	const before, after = 20, 60
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	excerpt := func(s string) string { return strings.ToValidUTF8(s[max(0, i-before):min(len(s), i+after)], "") }
	return fmt.Sprintf("…%s… in the source, …%s… in the target", excerpt(a), excerpt(b))
}

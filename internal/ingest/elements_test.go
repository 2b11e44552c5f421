package ingest

import "testing"

// TestElements_Budget sees to it that the columns share what they may keep, and that one that gives up gives back.
func TestElements_Budget(t *testing.T) {
	t.Parallel()
	budget := 3
	var a, b elements
	for range 3 {
		a.observe([]byte("x,y"), &budget)
	}
	if budget != 1 || !a.holds() {
		t.Fatalf("two elements kept: budget %d, list %t", budget, a.holds())
	}
	b.observe([]byte("x,y"), &budget)
	if budget != 1 || !b.ruledOut {
		t.Errorf("over the budget: budget %d, ruled out %t", budget, b.ruledOut)
	}
	a.observe([]byte("x, y"), &budget)
	if budget != 3 || a.holds() {
		t.Errorf("after a blank beside a comma: budget %d, list %t", budget, a.holds())
	}
}

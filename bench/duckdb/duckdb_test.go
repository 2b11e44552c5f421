//go:build linux

package main

import "testing"

func TestCompareRows(t *testing.T) {
	t.Parallel()
	ours := func() [][]string { return [][]string{{"tree", "10.50"}, {"shrub", "0.333333333333333"}} }
	for name, c := range map[string]struct {
		theirs [][]string
		equal  bool
	}{
		"equal":        {[][]string{{"tree", "10.50"}, {"shrub", "0.333333333333333"}}, true},
		"other order":  {[][]string{{"shrub", "0.333333333333333"}, {"tree", "10.50"}}, true},
		"other digits": {[][]string{{"tree", "10.5"}, {"shrub", "0.33333333333333331"}}, true},
		"other label":  {[][]string{{"trees", "10.50"}, {"shrub", "0.333333333333333"}}, false},
		"other value":  {[][]string{{"tree", "10.51"}, {"shrub", "0.333333333333333"}}, false},
		"fewer rows":   {[][]string{{"tree", "10.50"}}, false},
	} {
		if err := compareRows(ours(), c.theirs); (err == nil) != c.equal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

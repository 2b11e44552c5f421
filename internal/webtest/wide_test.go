package webtest_test

import (
	"encoding/csv"
	"fmt"
	"strings"
)

// wide is a dataset with 1,000 columns of all types.
const wide = "/datasets/wide/thousand"

// wideColumns is the number of columns of wide.
const wideColumns = 1000

// wideCSV returns the rows of wide: a key, a name, coordinates, and columns of all types in turn,
// some with long names and long values, some empty.
func wideCSV() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	record := []string{"key", "name", "latitude", "longitude"}
	for i := len(record); i < wideColumns; i++ {
		name := fmt.Sprintf("%s_%d", []string{"amount", "kind", "day", "note", "flag", "labels", "empty",
			"skewed"}[i%8], i)
		if i%50 == 7 {
			name += "_with_a_name_that_is_much_longer_than_its_values"
		}
		record = append(record, name)
	}
	_ = w.Write(record) // strings.Builder never fails
	for row := range 120 {
		record = append(record[:0], fmt.Sprintf("k%04d", row), fmt.Sprintf("Row %d", row), fmt.Sprint(row%170-85),
			fmt.Sprint(row*3%350-175))
		for i := len(record); i < wideColumns; i++ {
			n := row*7919 + i*104729
			record = append(record, []string{
				fmt.Sprintf("%d.%02d", n%100000, n%100), []string{"red", "green", "blue"}[n%3],
				fmt.Sprintf("20%02d-%02d-%02d", n%25, n%12+1, n%28+1),
				strings.Repeat(fmt.Sprintf("word%d ", n%97), 1+n%30), []string{"yes", "no"}[n%2],
				[]string{"a,b", "b,c", "c"}[n%3], "", fmt.Sprint(1 << (n % 40)),
			}[i%8])
		}
		_ = w.Write(record)
	}
	w.Flush()
	return b.String()
}

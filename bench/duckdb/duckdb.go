//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measureDuckDB measures DuckDB, which runs in a process of its own.
func measureDuckDB(ctx context.Context, csv string, s settings) (answers []answer, err error) {
	type namedQuery struct {
		Name string `json:"name"`
		SQL  string `json:"sql"`
	}
	var queries []namedQuery
	for _, shape := range shapes() {
		queries = append(queries, namedQuery{shape.name, shape.sql})
	}
	csv, err = filepath.Abs(csv)
	if err != nil {
		return nil, err
	}
	input, err := json.Marshal(map[string]any{
		"csv": csv, "parquet": strings.TrimSuffix(csv, ".csv") + ".parquet", "runs": s.runs, "queries": queries,
	})
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(s.tools, "measure.mjs"))
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("node %s: %w\n%s", cmd.Args[1], err, stderr.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var measured struct {
			CPU  []float64  `json:"cpu"` // milliseconds
			Rows [][]string `json:"rows"`
		}
		if err := decoder.Decode(&measured); err != nil {
			return nil, err
		}
		answers = append(answers, answer{time.Duration(slices.Min(measured.CPU) * float64(time.Millisecond)),
			measured.Rows})
	}
	if len(answers) != len(queries) {
		return nil, fmt.Errorf("node %s: %d results of %d queries", cmd.Args[1], len(answers), len(queries))
	}
	return answers, nil
}

// equal reports whether two values are the same text or the same number. Means of DuckDB are
// binary numbers, which have some 15 digits.
func equal(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	const tolerance = 1e-13
	return errX == nil && errY == nil && math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

package segmenttest

import (
	"context"
	"slices"
	"testing"

	"herbarium/internal/query"
)

// brokenGridder is an engine with a fault in its grids only.
type brokenGridder struct {
	*Oracle
	request func(*query.GridRequest)
	result  func(*query.GridRequest, *query.Grid)
}

func (b brokenGridder) Grid(ctx context.Context, r *query.GridRequest) (query.Grid, error) {
	changed, request := *r, *r.Request
	changed.Request = &request
	if b.request != nil {
		b.request(&changed)
	}
	g, err := b.Oracle.Grid(ctx, &changed)
	if b.result != nil {
		b.result(r, &g)
	}
	return g, err
}

// TestFaultsInGrids checks that random datasets detect every fault.
func TestFaultsInGrids(t *testing.T) {
	t.Parallel()
	onlyInSoakRuns(t)
	faults := map[string]brokenGridder{
		"filters ignored": {request: func(r *query.GridRequest) { r.Request.Conditions = nil }},
		"search ignored":  {request: func(r *query.GridRequest) { r.Request.Search = nil }},
		"axes exchanged":  {request: func(r *query.GridRequest) { r.X, r.Y = r.Y, r.X }},
		"maximum outside": {request: func(r *query.GridRequest) {
			r.Bounds.MaxX -= (r.Bounds.MaxX - r.Bounds.MinX) / 1e9
		}},
		"bounds ignored": {request: func(r *query.GridRequest) {
			r.Bounds = query.Bounds{MinX: -1e9, MinY: -1e9, MaxX: 1e9, MaxY: 1e9}
		}},
		"rows upside down": {result: func(r *query.GridRequest, g *query.Grid) {
			for i := range g.Cells {
				g.Cells[i].Row = r.Rows - 1 - g.Cells[i].Row
			}
		}},
		"cells reversed":     {result: func(_ *query.GridRequest, g *query.Grid) { slices.Reverse(g.Cells) }},
		"total of the cells": {result: func(_ *query.GridRequest, g *query.Grid) { g.Total = g.Inside }},
	}
	checkAllDetected(t, faults, false, false, func(o *Oracle, fault brokenGridder) query.Engine {
		fault.Oracle = o
		return fault
	})
}

package web

import (
	"context"
	"strconv"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/columns"
	"herbarium/internal/web/view/maps"
)

// maxGeometry is how many bytes of a geometry are read.
const maxGeometry = 16 << 10

// geometries calls use with the position of each row of a listing whose column has a geometry, and
// returns the number of rows of the listing. It reads the first maps.MapPoints rows: there is no
// index of geometries.
func (v datasetView) geometries(ctx context.Context, field int, req *query.Request, use func(longitude, latitude float64)) (total int, err error) {
	stream, err := v.Stream(ctx, req)
	if err != nil {
		return 0, err
	}
	const pace = 256 // rows
	n, began := 0, time.Now()
	for record, err := range stream.Records {
		if err != nil {
			return 0, err
		}
		row, err := herb.DecodeClipped(v.Fields, record, func(i int) int {
			if i == field {
				return maxGeometry
			}
			return 0
		})
		if err != nil {
			return 0, err
		}
		if longitude, latitude, ok := columns.ParseWKT(row[field]); ok {
			use(longitude, latitude)
		}
		if n++; n == maps.MapPoints {
			break
		}
		if n%pace == 0 {
			if err := query.Yield(ctx, pace*len(v.Fields), time.Since(began)); err != nil {
				return 0, err
			}
			began = time.Now()
		}
	}
	return stream.Total, nil
}

// mapRanges returns the ranges of the latitudes and longitudes of the rows of a listing.
func (v datasetView) mapRanges(ctx context.Context, pair columns.Pair, req *query.Request) (latitude, longitude query.Facet, err error) {
	if !pair.WKT {
		found, err := v.Facets(ctx, &query.FacetRequest{Request: req, Fields: []int{pair.Latitude, pair.Longitude}})
		if err != nil {
			return latitude, longitude, err
		}
		return found.Fields[0], found.Fields[1], nil
	}
	var low, high [2]float64
	n := 0
	_, err = v.geometries(ctx, pair.Latitude, req, func(x, y float64) {
		for axis, value := range [2]float64{x, y} {
			if n == 0 {
				low[axis], high[axis] = value, value
			}
			low[axis], high[axis] = min(low[axis], value), max(high[axis], value)
		}
		n++
	})
	if n > 0 {
		format := func(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
		longitude.Min, longitude.Max = format(low[0]), format(high[0])
		latitude.Min, latitude.Max = format(low[1]), format(high[1])
	}
	return latitude, longitude, err
}

// mapGrid counts the rows of a listing in the cells of a map.
func (v datasetView) mapGrid(ctx context.Context, pair columns.Pair, q *query.GridRequest) (grid query.Grid, err error) {
	if !pair.WKT {
		return v.Grid(ctx, q)
	}
	counts, b := make([]int, q.Columns*q.Rows), q.Bounds
	grid.Total, err = v.geometries(ctx, pair.Latitude, q.Request, func(x, y float64) {
		if x < b.MinX || x > b.MaxX || y < b.MinY || y > b.MaxY {
			return
		}
		column := min(int(float64(q.Columns)*(x-b.MinX)/(b.MaxX-b.MinX)), q.Columns-1)
		row := min(int(float64(q.Rows)*(y-b.MinY)/(b.MaxY-b.MinY)), q.Rows-1)
		counts[row*q.Columns+column]++
	})
	grid.SetCells(q, counts)
	return grid, err
}

package browse

import (
	"context"
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

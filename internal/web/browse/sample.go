package browse

import (
	"context"

	"herbarium/internal/herb"
	"herbarium/internal/query"
)

// The size of a sample of the rows of a version.
const (
	samplePages   = 64
	samplePerPage = 32
	sampleBytes   = 4 << 20 // beyond which no more are read: values may be long
)

// sampleRows returns rows from pages that are evenly spread over all, in the order of the dataset;
// all rows if they are few. It is the same for each request of a version.
func sampleRows(ctx context.Context, v datasetView) (sample []herb.Record, err error) {
	req, err := query.Of(nil).Listing(v.Fields, herb.Order{})
	if err != nil {
		return nil, err
	}
	release, err := query.Reserve(ctx, sampleBytes)
	if err != nil {
		return nil, err
	}
	defer release()
	req.PerPage = samplePerPage
	pages := (v.Records + samplePerPage - 1) / samplePerPage
	size := 0
	for n := range min(samplePages, pages) {
		if size > sampleBytes {
			break
		}
		req.Page = n*pages/min(samplePages, pages) + 1
		page, err := v.List(ctx, req)
		if err != nil {
			return nil, err
		}
		records, err := herb.DecodeRecords(v.Fields, page.Records)
		if err != nil {
			return nil, err
		}
		for _, record := range page.Records {
			size += len(record)
		}
		sample = append(sample, records...)
	}
	return sample, nil
}

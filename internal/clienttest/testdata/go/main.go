// Command calls calls every operation with the generated client and prints one JSON line per call.
// Arguments: the URL of the server and a key.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"herbarium/tools/clients/generated"
)

func main() {
	client, err := generated.NewClientWithResponses(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	c := caller{ctx: context.Background(), client: client, key: os.Args[2]}
	c.general()
	c.catalog()
	c.hostile()
	c.plants()
	c.publishing()
}

type caller struct {
	ctx    context.Context
	client *generated.ClientWithResponses
	key    string
}

// report prints the result of a call.
func (c caller) report(call string, body any, raw []byte, err error) {
	line := map[string]any{"client": "oapi-codegen", "call": call, "body": body}
	switch encoded, _ := json.Marshal(body); {
	case err != nil:
		line["error"] = err.Error()
	case string(encoded) == "null": // not the documented response
		line["error"] = string(raw)
	}
	out, err := json.Marshal(line)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(out))
}

func filters() *generated.Filter {
	return &generated.Filter{"category=climber", "category=shrub", "price[gte]=10", "price[lt]=40"}
}

func values(v ...string) *[]string { return &v }

// general calls the operations that do not depend on a dataset.
func (c caller) general() {
	health, err := c.client.GetHealthWithResponse(c.ctx)
	c.report("getHealth", health.JSON200, health.Body, err)
	ready, err := c.client.GetReadinessWithResponse(c.ctx)
	c.report("getReadiness", ready.JSON200, ready.Body, err)
	datasets, err := c.client.ListDatasetsWithResponse(c.ctx,
		&generated.ListDatasetsParams{Page: new(1), PerPage: new(2)})
	c.report("listDatasets", datasets.JSON200, datasets.Body, err)
	matches, err := c.client.SearchRecordsWithResponse(c.ctx, &generated.SearchRecordsParams{Search: "fern"})
	c.report("searchRecords", matches.JSON200, matches.Body, err)
	document, err := c.client.GetOpenAPIWithResponse(c.ctx, &generated.GetOpenAPIParams{Dataset: new("garden/catalog")})
	c.report("getOpenAPI", document.JSON200, document.Body, err)
	schema, err := c.client.GetDescriptorSchemaWithResponse(c.ctx, nil)
	c.report("getDescriptorSchema", schema.ApplicationschemaJSON200, schema.Body, err)
}

// catalog calls the operations of any dataset, and those of garden/catalog, with the same filters.
func (c caller) catalog() {
	const namespace, name = "garden", "catalog"
	dataset, err := c.client.DescribeDatasetWithResponse(c.ctx, namespace, name, nil)
	c.report("describeDataset", dataset.JSON200, dataset.Body, err)
	list, err := c.client.ListRecordsWithResponse(c.ctx, namespace, name, &generated.ListRecordsParams{
		Page: new(2), PerPage: new(3), Sort: &generated.Sort{"price"},
		Order: new(generated.ListRecordsParamsOrder("desc")), Search: new("rose*"),
		UnderscoreFilter: filters(),
	})
	c.report("listRecords", list.JSON200, list.Body, err)
	csv, err := c.client.ExportCSVWithResponse(c.ctx, namespace, name,
		&generated.ExportCSVParams{Sort: &generated.Sort{"price"}, UnderscoreFilter: filters()})
	c.report("exportCSV", string(csv.Body), csv.Body, err)
	ndjson, err := c.client.ExportNDJSONWithResponse(c.ctx, namespace, name,
		&generated.ExportNDJSONParams{Sort: &generated.Sort{"price"}, UnderscoreFilter: filters()})
	c.report("exportNDJSON", string(ndjson.Body), ndjson.Body, err)
	xlsx, err := c.client.ExportXLSXWithResponse(c.ctx, namespace, name,
		&generated.ExportXLSXParams{Sort: &generated.Sort{"price"}, UnderscoreFilter: filters()})
	c.report("exportXLSX", xlsx.Body, xlsx.Body, err)
	features, err := c.client.ExportGeoJSONWithResponse(c.ctx, "hostile", "a_b",
		&generated.ExportGeoJSONParams{Sort: &generated.Sort{"-x_y"}})
	c.report("exportGeoJSON", features.ApplicationgeoJSON200, features.Body, err)
	parquet, err := c.client.GetParquetWithResponse(c.ctx, namespace, name, nil)
	c.report("getParquet", parquet.Body, parquet.Body, err)
	counts, err := c.client.CountValuesWithResponse(c.ctx, namespace, name, &generated.CountValuesParams{
		Field: []string{"category", "price"}, Top: new(3), Buckets: new(5), Search: new("rose*"),
		UnderscoreFilter: filters(),
	})
	c.report("countValues", counts.JSON200, counts.Body, err)

	grid, err := c.client.CountInGridWithResponse(c.ctx, namespace, name, &generated.CountInGridParams{
		UnderscoreX: new("id"), UnderscoreY: new("price"), UnderscoreBounds: "0,0,600,100", UnderscoreColumns: new(4),
		UnderscoreRows:   new(3),
		UnderscoreFilter: filters(),
	})
	c.report("countInGrid", grid.JSON200, grid.Body, err)
	groups, err := c.client.AggregateWithResponse(c.ctx, namespace, name, &generated.AggregateParams{
		UnderscoreBy: &generated.By{"category", "date:weekday"}, UnderscoreMeasure: &generated.Measure{
			"count", "mean:price", "stddev:price", "ratio:price/id"},
		UnderscoreSort: new("-count"), UnderscoreTop: new(5), UnderscoreHaving: &generated.Having{"count[gte]=2"},
		UnderscoreFilter: filters(),
	})
	c.report("aggregate", groups.JSON200, groups.Body, err)
	buckets, err := c.client.AggregateCSVWithResponse(c.ctx, namespace, name, &generated.AggregateCSVParams{
		UnderscoreBy: &generated.By{"price:10"}, UnderscoreFill: new(generated.AggregateCSVParamsFill("zero")),
		UnderscoreMeasure: &generated.Measure{"sum:price"},
	})
	c.report("aggregateCSV", string(buckets.Body), buckets.Body, err)

	own, err := c.client.ListGardenCatalogWithResponse(c.ctx, &generated.ListGardenCatalogParams{
		Page: new(2), PerPage: new(3), Sort: &[]generated.ListGardenCatalogParamsSort{"price"},
		Order: new(generated.ListGardenCatalogParamsOrder("desc")), Search: new("rose*"),
		Category: values("climber", "shrub"), PriceGte: values("10"), PriceLt: values("40"),
	})
	c.report("list_garden_catalog", own.JSON200, own.Body, err)
	own, err = c.client.ListGardenCatalogWithResponse(c.ctx, &generated.ListGardenCatalogParams{
		PerPage: new(100), Sort: &[]generated.ListGardenCatalogParamsSort{"category", "-price"},
	})
	c.report("list_garden_catalog sorted", own.JSON200, own.Body, err)
	facets, err := c.client.FacetsGardenCatalogWithResponse(c.ctx, &generated.FacetsGardenCatalogParams{
		Field: []generated.FacetsGardenCatalogParamsField{"category", "price"}, Top: new(3), Buckets: new(5),
		Search:   new("rose*"),
		Category: values("climber", "shrub"), PriceGte: values("10"), PriceLt: values("40"),
	})
	c.report("facets_garden_catalog", facets.JSON200, facets.Body, err)
}

// hostile calls the operations of datasets with hostile names.
func (c caller) hostile() {
	others := generated.Filter{
		"🌵=v1", `x'y"z=v1`, "`=v1", "$ref=v1", `\[prefix]=v`, "a,b=v1", "a&b=v1", "-=v1", "__proto__=v1",
		"constructor=v1", "#=v1", "page=v1",
	}
	list, err := c.client.ListHostileFieldsWithResponse(c.ctx, &generated.ListHostileFieldsParams{
		Sort: values("-x"), AB: values("1", "4", "7"), ABLte: values("20"), AB2: values("v1"), AB3: values("v1"),
		AB4: values("v1", "v2"), A: values("v1"), A2: values("v1"),
		Type: values("v1"), Default: values("v1"), DefaultEmpty: new(false), Field1st: values("v1"),
		Class: values("v1"), Func: values("v1"),
		X: values("v1"), Field: values("v1"), Get: values("v1"), GrEM: values("v1"), Field2: values("v1"),
		Price:    values("v1"),
		PriceGte: values("v1"), PriceGteEq: values("v1"), PageEq: values("v1"), FieldsEq: values("v1"),
	})
	c.report("list_hostile_fields", list.JSON200, list.Body, err)
	list, err = c.client.ListHostileFieldsWithResponse(c.ctx,
		&generated.ListHostileFieldsParams{UnderscoreFilter: &others})
	c.report("list_hostile_fields others", list.JSON200, list.Body, err)
	facets, err := c.client.FacetsHostileFieldsWithResponse(c.ctx, &generated.FacetsHostileFieldsParams{
		UnderscoreFilter: &others, Field: []string{"🌵", "#"},
		AB: values("1", "4", "7"), ABLte: values("20"), AB2: values("v1"), AB3: values("v1"), AB4: values("v1", "v2"),
		A: values("v1"), A2: values("v1"),
		Type: values("v1"), Default: values("v1"), DefaultEmpty: new(false), Field1st: values("v1"),
		Class: values("v1"), Func: values("v1"),
		X: values("v1"), Field2: values("v1"), Get: values("v1"), GrEM: values("v1"), Field3: values("v1"),
		Price:    values("v1"),
		PriceGte: values("v1"), PriceGteEq: values("v1"), PageEq: values("v1"), FieldsEq: values("v1"),
	})
	c.report("facets_hostile_fields", facets.JSON200, facets.Body, err)

	first, err := c.client.ListHostileABWithResponse(c.ctx, &generated.ListHostileABParams{XY: values("1")})
	c.report("list_hostile_a_b", first.JSON200, first.Body, err)
	counts, err := c.client.FacetsHostileABWithResponse(c.ctx, &generated.FacetsHostileABParams{
		Field: []generated.FacetsHostileABParamsField{"x-y"}})
	c.report("facets_hostile_a_b", counts.JSON200, counts.Body, err)
	second, err := c.client.ListHostileAB2WithResponse(c.ctx, &generated.ListHostileAB2Params{XY: values("2")})
	c.report("list_hostile_a_b_2", second.JSON200, second.Body, err)
	counts2, err := c.client.FacetsHostileAB2WithResponse(c.ctx, &generated.FacetsHostileAB2Params{
		Field: []generated.FacetsHostileAB2ParamsField{"x_y"}})
	c.report("facets_hostile_a_b_2", counts2.JSON200, counts2.Body, err)
}

// plants creates a plant and lists it.
func (c caller) plants() {
	const id = 4
	authorize := func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+c.key)
		return nil
	}
	created, err := c.client.CreatePlantWithResponse(c.ctx, nil,
		generated.NewPlant{Id: id, Name: "Dog rose", Tag: new("shrub")}, authorize)
	c.report("createPlant", created.JSON200, created.Body, err)
	record, err := c.client.GetRecordWithResponse(c.ctx, "store", "plants", fmt.Sprint(id), nil)
	c.report("getRecord", record.JSON200, record.Body, err)
	list, err := c.client.ListStorePlantsWithResponse(c.ctx,
		&generated.ListStorePlantsParams{Id: values(fmt.Sprint(id))})
	c.report("list_store_plants", list.JSON200, list.Body, err)
	facets, err := c.client.FacetsStorePlantsWithResponse(c.ctx, &generated.FacetsStorePlantsParams{
		Id: values(fmt.Sprint(id)), Field: []generated.FacetsStorePlantsParamsField{"tag"},
	})
	c.report("facets_store_plants", facets.JSON200, facets.Body, err)
}

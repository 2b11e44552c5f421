package query

import "slices"

// Kind is a kind of request. It determines the parameters that a request takes besides the filters
// of its dataset: those with ParamFilter have them.
type Kind uint16

// The kinds of requests.
const (
	KindListing     Kind = 1 << iota // a page of records
	KindExport                       // all records of a query, as a file
	KindFacets                       // the values of fields
	KindGrid                         // the cells of a map
	KindAggregate                    // the measures of groups
	KindChanges                      // a page of the changes between two versions
	KindChangesFile                  // all changes, as a file
	KindFeed                         // the changes of all kept versions
	KindRecord                       // one record, by its key
	KindParquet                      // all records of a version
	KindVersion                      // something about a version
	KindCatalogue                    // a page of datasets
	KindSearch                       // the records of all datasets
	KindOpenAPI                      // the OpenAPI document
	KindTools                        // a message to the tools
	KindNone                         // a request without parameters

	kindsOfFilters = KindListing | KindExport | KindFacets | KindGrid | KindAggregate | kindsOfChanges | KindFeed
	kindsOfChanges = KindChanges | KindChangesFile
	kindsOfRecords = KindListing | KindExport | kindsOfChanges | KindFeed | KindRecord
	kindsOfAreas   = KindListing | KindExport | KindFacets | KindGrid | KindAggregate
	kindsOfVersion = kindsOfAreas | kindsOfChanges | KindRecord | KindParquet | KindVersion
)

// parameters lists the reserved parameters in the order of messages, each with the kinds of
// requests that take it. Every request of the API takes ParamAPIKey.
var parameters = [...]struct {
	name  string
	kinds Kind
}{
	{ParamField, KindFacets},
	{ParamTop, KindFacets},
	{ParamBy, KindAggregate},
	{ParamMeasure, KindAggregate},
	{ParamGroupSort, KindAggregate},
	{ParamTopGroups, KindAggregate},
	{ParamOffset, KindFacets | KindAggregate},
	{ParamValues, KindFacets},
	{ParamBuckets, KindFacets},
	{ParamScale, KindFacets},
	{ParamEdges, KindFacets},
	{ParamOwnFilter, KindFacets},
	{ParamHaving, KindAggregate},
	{ParamFill, KindAggregate},
	{ParamGroup, KindAggregate},
	{ParamGroupEmpty, KindAggregate},
	{ParamSeries, KindAggregate},
	{ParamSeriesEmpty, KindAggregate},
	{ParamX, KindGrid},
	{ParamY, KindGrid},
	{ParamBounds, KindGrid},
	{ParamColumns, KindGrid},
	{ParamRows, KindGrid},
	{ParamPage, KindListing | KindChanges | KindCatalogue},
	{ParamPerPage, KindListing | KindChanges | KindCatalogue},
	{ParamSort, KindListing | KindExport},
	{ParamOrder, KindListing | KindExport},
	{ParamSearch, kindsOfFilters | KindCatalogue | KindSearch},
	{ParamWords, kindsOfFilters},
	{ParamBox, kindsOfAreas},
	{ParamNear, kindsOfAreas},
	{ParamCoordinates, kindsOfAreas},
	{ParamAPIKey, ^Kind(0)},
	{ParamFields, kindsOfRecords},
	{ParamFilter, kindsOfFilters},
	{ParamAny, kindsOfFilters},
	{ParamZone, kindsOfFilters},
	{ParamVersion, kindsOfVersion},
	{ParamDataset, KindOpenAPI},
	{ParamTyped, KindListing | KindExport | KindAggregate | KindRecord | KindOpenAPI},
	{ParamMatches, KindListing},
	{ParamLabels, KindListing | KindExport | KindRecord},
	{ParamTypes, KindParquet},
	{ParamOp, kindsOfChanges | KindFeed},
	{ParamFrom, kindsOfChanges},
	{ParamTo, kindsOfChanges},
	{ParamResult, KindTools},
}

// Parameters returns the reserved parameters that requests of a kind take.
func (k Kind) Parameters() []string {
	var names []string
	for i := range parameters {
		if parameters[i].kinds&k != 0 {
			names = append(names, parameters[i].name)
		}
	}
	return names
}

// takes reports whether requests of a kind take a reserved parameter.
func (k Kind) takes(name string) bool {
	for i := range parameters {
		if p := &parameters[i]; p.name == name {
			return p.kinds&k != 0
		}
	}
	return false
}

// IsReserved reports whether a parameter is one that every listing has.
func IsReserved(name string) bool { return KindListing.takes(name) }

// isRepeatable reports whether a reserved parameter may be given several times.
func isRepeatable(name string) bool {
	return name == ParamAny || hasOrder(name)
}

// hasOrder reports whether the order of the values of a repeatable parameter matters.
func hasOrder(name string) bool {
	return slices.Contains([]string{ParamField, ParamBy, ParamMeasure, ParamHaving, ParamGroup, ParamSeries}, name)
}

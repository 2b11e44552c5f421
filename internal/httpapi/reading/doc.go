// Package reading handles requests that read datasets: listings, records, exports, facets, grids,
// groups, the catalogue, the search, and the OpenAPI document.
package reading

package jsontext

import (
	"fmt"
	"slices"
	"strings"

	"herbarium/internal/ingest/rows"
)

// A document with tables is either an envelope around them, such as the response of an API, or a
// record that describes one thing and has the tables as values, such as a museum object with its
// images. The members beside the largest table decide: those that describe something count for a
// record, the records of the table count for the table.
const (
	tablePrior    = 2.0     // score of a table before its records are counted
	recordWeight  = 0.5     // score of each record of the largest table
	usualWeight   = 1.0     // if the name of the table is usual, and nothing identifies the document
	sharedWeight  = 1.0 / 3 // if the other tables are nearly as large
	dominantShare = 2.0 / 3 // of all records that the largest table has at most if others are nearly as large
)

// isRecord reports whether the document is one record, whose tables are values.
func (d *documentOutline) isRecord() bool {
	record, table := d.scores()
	return len(d.tables) > 0 && rows.SumTerms(record) >= rows.SumTerms(table) && d.before+int64(d.pos) <= int64(d.budget.MaxRecord())
}

// explain adds the readings of a document that has tables. hasName means that the user named one.
func (d *documentOutline) explain(e *rows.Explanation, hasName bool) {
	isRecord := len(d.values) > 0 && !hasName
	names := tableNames(slices.Concat(d.tables, d.values))
	if len(names) == 0 {
		return
	}
	record, table := d.scores()
	e.Add(rows.ScoredReading{Text: "the document is one record", Terms: record, Used: isRecord, Note: "an array with the document as its only element"})
	e.Add(rows.ScoredReading{Text: "the records are in " + rows.JoinNames(names), Terms: table, Used: !isRecord, Note: "FILE#" + rows.Clip(names[0])})
}

// scores returns the terms of the two readings of a document with tables.
func (d *documentOutline) scores() (record, table []rows.Term) {
	add := func(terms *[]rows.Term, value float64, name string, args ...any) {
		*terms = append(*terms, rows.Term{Decision: rows.DecisionRecords, Name: fmt.Sprintf(name, args...), Value: value})
	}
	largest, total := outlineMember{}, 0
	for _, t := range slices.Concat(d.tables, d.values) {
		if total += t.records; t.records >= largest.records {
			largest = t
		}
	}
	describing, identities := 0, 0
	for _, m := range d.members {
		switch {
		case largest.name() == "features": // of GeoJSON and ArcGIS
		case !largest.isIn(m.parent()) || m == largest || largest.isIn(m.path) || isAboutEnvelope(m.name()):
		case isIdentity(m.name()):
			identities++
			describing++
		default:
			describing++
		}
	}
	weight := recordWeight
	if isUsual(largest.name()) && identities == 0 {
		weight = usualWeight
	} else if float64(largest.records) <= dominantShare*float64(total) {
		weight = sharedWeight
	}
	add(&record, float64(describing), "%d members beside %q describe the document", describing, rows.Clip(largest.tableName()))
	if identities > 0 {
		add(&record, 1, "a member identifies it")
	}
	add(&table, tablePrior, "the document has an array of objects, or an object of objects")
	add(&table, weight*float64(largest.records), "the largest has %d of %d records", largest.records, total)
	return record, table
}

// isIdentity reports whether a member of this name identifies what the object around it describes.
func isIdentity(name string) bool {
	return slices.Contains([]string{"id", "_id", "@id", "identifier", "uuid", "guid", "slug", "objectid"}, strings.ToLower(name))
}

// isAboutEnvelope reports whether a member of this name is about the file or the response that the
// records are in.
func isAboutEnvelope(name string) bool {
	if isIdentity(name) {
		return false
	}
	plain := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
	for _, part := range []string{"total", "num", "page", "max", "has", "include", "records", "request", "response", "copyright", "generated", "@", "$"} {
		if strings.HasPrefix(plain, part) {
			return true
		}
	}
	return strings.HasSuffix(plain, "count") || isHeader(plain) || slices.Contains([]string{
		"attribution", "bbox", "code", "crs", "cursor", "error", "errors", "first", "format", "head", "help", "info", "jsonapi",
		"jsonrpc", "kind", "last", "lastupdated", "license", "licence", "limit", "links", "message", "messages", "meta", "metadata",
		"next", "offset", "ok", "pagination", "paging", "perpage", "prev", "previous", "query", "result", "schema", "self", "size",
		"start", "status", "success", "timedout", "timestamp", "took", "type", "updated", "version", "warnings",
	}, plain)
}

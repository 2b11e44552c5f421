package query

import (
	"iter"
	"math"
	"slices"
	"time"

	"herbarium/internal/herb"
)

// Limits of an aggregate request. Exceeding one is an error that names it.
const (
	MaxBy             = 2
	MaxMeasures       = 8
	MaxMeasuresOfAll  = 100 // of one group of all records
	DefaultGroups     = 100
	MaxGroupsReturned = 100_000
	MaxLabels         = 100 // that a request selects
	MaxGroups         = 1_000_000
	MaxAggregateBytes = 16 << 20 // of all labels and values of a result that is not streamed
)

// allGroups is the AggregateRequest.Top of a request for all groups.
const allGroups = math.MaxInt32

// Parameters of aggregate requests in addition to those of a listing and ParamOffset.
const (
	ParamBy        = "_by"
	ParamMeasure   = "_measure"
	ParamGroupSort = "_sort"
	ParamTopGroups = "_top"
	ParamHaving    = "_having"
	ParamFill      = "_fill"
	ParamZone      = "_zone"
	ParamGroup     = "_group"
	ParamSeries    = "_series"
	// ParamGroupEmpty and ParamSeriesEmpty select the group of missing values.
	ParamGroupEmpty  = ParamGroup + "[empty]"
	ParamSeriesEmpty = ParamSeries + "[empty]"
)

// AggregateRequest asks for measures of groups of the records that match the filters and the search
// of a request.
type AggregateRequest struct {
	Request  *Request        // page and order are ignored
	By       []By            // none means one group of all records
	Labels   [MaxBy][]string // of the groups to return, by the position in By; none means all
	Measures []Measure
	Returned int         // number of measures to return; those after them are only sorted or filtered by
	Sort     []GroupSort // most significant first; ties are in the order of By
	Having   []Condition // on the values of measures: Field is the position of a measure
	Top      int
	Offset   int
	// adds the empty intervals between the first and the last, all groups of a Cycle, and the
	// combinations of two By
	Fill    bool
	Zone    *time.Location // of datetimes that have a zone; nil means UTC
	AnyZone bool           // Zone may be without effect, which fails otherwise
	// MaxFilled is the number of groups with Fill beyond which the request fails; 0 means
	// MaxGroups.
	MaxFilled int
}

// By is what records are grouped by: the values of a field, or intervals or cycles of them.
type By struct {
	Name  string // as in the request
	Field int    // position
	Grain Grain  // of dates, datetimes and times; empty for none
	Width string // of the intervals of numbers, or of durations in seconds, in plain decimal notation; empty for none
	// the intervals of numbers are logarithmic: Width, a power of ten, is that of the first one
	// beside zero
	Log bool
}

// HasIntervals reports whether groups are intervals or cycles of values.
func (b By) HasIntervals() bool { return b.Grain != "" || b.Width != "" }

// UsesZone reports whether groups depend on AggregateRequest.Zone if values of the field have a
// zone.
func (b By) UsesZone(fields []herb.Field) bool {
	return b.Grain != "" && fields[b.Field].Type == herb.TypeDateTime
}

// GroupSort is a label or a measure by which groups are sorted. Missing values are last in both
// directions.
type GroupSort struct {
	By      int // position in AggregateRequest.By; -1 if it is a measure
	Measure int // position in AggregateRequest.Measures
	Desc    bool
}

// ValueFields returns the fields of a record of measures: conditions and sorts on measures compare
// its values as those of any other record.
func (r *AggregateRequest) ValueFields() []herb.Field {
	fields := make([]herb.Field, len(r.Measures))
	for i, m := range r.Measures {
		f := herb.Field{Type: herb.TypeNumber}
		if m.Field >= 0 && m.Kind.ResultType(r.Request.fields[m.Field].Type) != herb.TypeNumber {
			f = r.Request.fields[m.Field]
			f.Searchable, f.Notation.Missing = false, nil
		}
		f.Name, f.Filterable = m.Name, true
		fields[i] = f
	}
	return fields
}

// Units returns the units of measures, which their values leave out, by the name of the field.
func (r *AggregateRequest) Units() map[string]string {
	units := map[string]string{}
	for _, m := range r.Measures[:r.Returned] {
		if unit := m.Unit(r.Request.fields); unit != "" {
			units[r.Request.fields[m.Field].Name] = unit
		}
	}
	return units
}

// ByElements reports whether records are grouped by the elements of a list, so that a record can be
// in several groups.
func (r *AggregateRequest) ByElements() bool {
	return slices.ContainsFunc(r.By, func(b By) bool { return r.Request.fields[b.Field].Type == herb.TypeList })
}

// Aggregate is the result of an aggregate request.
type Aggregate struct {
	Total  int // records that match the filters and the search
	Groups int // groups that meet AggregateRequest.Having
	Rows   []GroupRow
}

// GroupRow is one group.
type GroupRow struct {
	By     []string `json:"by"`     // labels; empty for missing values
	Values []string `json:"values"` // of the measures; empty if a measure has none
}

// GroupStream is the result of an aggregate request, whose rows are computed while they are read.
type GroupStream struct {
	Groups int // groups that meet AggregateRequest.Having
	Len    int // rows
	// Rows yields the rows in the order of the request. An error ends the sequence.
	Rows iter.Seq2[GroupRow, error]
	// Release releases the memory of the groups. The caller must call it after reading the rows.
	Release func()
}

// Stream returns the result as a stream.
func (a Aggregate) Stream() GroupStream {
	return GroupStream{Groups: a.Groups, Len: len(a.Rows), Release: func() {},
		Rows: func(yield func(GroupRow, error) bool) {
			for _, row := range a.Rows {
				if !yield(row, nil) {
					return
				}
			}
		}}
}

// AggregateResponse is the result of an aggregate request as JSON.
type AggregateResponse struct {
	Data []GroupRow    `json:"data"`
	Meta AggregateMeta `json:"meta"`
}

// AggregateMeta describes what was counted.
type AggregateMeta struct {
	Total      int               `json:"total"`
	Groups     int               `json:"groups"`
	ByElements bool              `json:"by_elements,omitempty"`
	Units      map[string]string `json:"units,omitempty"`
	Resolved   map[string]string `json:"resolved,omitempty"` // see Meta
	Words      Words             `json:"words,omitempty"`
	// if there are no records
	Suggestions []Suggestion `json:"suggestions,omitempty"`
}

// NewAggregateResponse returns the response to a request. words is the result of Engine.Words.
func NewAggregateResponse(r *AggregateRequest, a Aggregate, words Words) AggregateResponse {
	rows := a.Rows
	if rows == nil {
		rows = []GroupRow{} // [] instead of null
	}
	return AggregateResponse{rows, AggregateMeta{Total: a.Total, Groups: a.Groups, ByElements: r.ByElements(),
		Units: r.Units(), Resolved: r.Request.Resolved(), Words: words}}
}

// Header returns the names of the columns of a table of groups: one for each label and each
// measure, named as in the request.
func (r *AggregateRequest) Header() (header []string) {
	for _, b := range r.By {
		header = append(header, b.Name)
	}
	for _, m := range r.Measures[:r.Returned] {
		header = append(header, m.Name)
	}
	return header
}

// Cells returns the group as a row of a table.
func (r GroupRow) Cells() []string { return slices.Concat(r.By, r.Values) }

// Table returns the result of the request as a table.
func (r *AggregateRequest) Table(a Aggregate) (header []string, rows [][]string) {
	for _, row := range a.Rows {
		rows = append(rows, row.Cells())
	}
	return r.Header(), rows
}

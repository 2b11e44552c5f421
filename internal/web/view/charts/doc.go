// Package charts answers a question about a listing with a chart.
//
// Three things are decided here. The question is what the parameters of an address ask: a measure,
// grouped and split by columns, and drawn in a form; question.go parses it, grouping.go and
// kinds.go have its defaults, and suggestions.go has the questions that a dataset suggests. The
// sentence says the question in words and is the form that changes it: words.go has its words,
// clauses.go the choices of each clause, sentence.go the title and what a form sets. The answer is
// what the page and the files show: requests.go has the aggregates that it needs, call.go the API
// call that returns the same values, series.go, scatter.go and tables.go turn them into the data
// of a figure and into tables, notes.go says what was not counted, and links.go leads from a part
// of the chart to its rows. Package plot draws the figures; what columns mean is decided by
// package columns.
package charts

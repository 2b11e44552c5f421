package xlsx

import (
	"context"

	"herbarium/internal/ingest/rows"
	"herbarium/internal/ingest/rowstest"
)

// openFile opens a workbook under its budget.
func openFile(b []byte, o rows.Options) (rows.Rows, error) {
	return rowstest.Open(context.Background(), Format(), rowstest.File(b), o, rows.Limits{})
}

// readFile reads a workbook: the names of the columns after the last row, then the rows.
func readFile(b []byte, o rows.Options) (out [][]string, notes []string, err error) {
	t, err := rowstest.Read(context.Background(), Format(), rowstest.File(b), o, rows.Limits{})
	return t.Rows, t.Notes, err
}

package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"herbarium/internal/herb"
	"herbarium/internal/ingest"
	"herbarium/internal/ingest/rowstest"
)

// hostileFiles returns files of a few megabytes that take much time or memory if they are read
// carelessly.
func hostileFiles(t *testing.T) map[string][2]string {
	t.Helper()
	list := func(n int, sep string, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(item(i))
			b.WriteString(sep)
		}
		return strings.TrimSuffix(b.String(), sep)
	}
	long := strings.Repeat("7", 1<<20)
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	const relations = `xmlns="http://schemas.openxmlformats.org/package/2006/relationships"`
	book := func(sheet, strings, styles string) string {
		const officeDocument = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		return rowstest.Zip(t,
			"_rels/.rels=<Relationships "+relations+`><Relationship Id="r" Type="`+officeDocument+
				`/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
			"xl/workbook.xml=<workbook "+main+` xmlns:r="`+officeDocument+
				`"><sheets><sheet name="S" sheetId="1" r:id="s"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels=<Relationships "+relations+`><Relationship Id="s" Type="`+officeDocument+
				`/worksheet" Target="s.xml"/>`+
				`<Relationship Id="t" Type="`+officeDocument+
				`/sharedStrings" Target="t.xml"/><Relationship Id="y" Type="`+officeDocument+
				`/styles" Target="y.xml"/></Relationships>`,
			"xl/s.xml=<worksheet "+main+">"+sheet+"</worksheet>", "xl/t.xml=<sst "+main+strings+"</sst>",
			"xl/y.xml=<styleSheet "+main+">"+styles+"</styleSheet>")
	}
	const cells = `<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row></sheetData>`
	return map[string][2]string{
		"counts of shared strings": {"x.xlsx", book(cells, ` count="4000000000" uniqueCount="4000000000">`, "")},
		"merged cells": {
			"x.xlsx", book(cells+"<mergeCells>"+
				list(50_000, "", func(i int) string {
					return fmt.Sprintf(`<mergeCell ref="A%d:XFD%d"/>`, i+1, 1048576-i)
				})+"</mergeCells>", ">", "")},
		"nested styles": {
			"x.xlsx", book(cells, ">", strings.Repeat("<x>", 100_000)+strings.Repeat("</x>", 100_000))},
		"far cells": {"x.xlsx", book(`<sheetData>`+list(1000, "", func(i int) string {
			return fmt.Sprintf(`<row r="%d"><c r="XFD%d"><v>1</v></c></row>`, 1000*i+1, 1000*i+1)
		})+`</sheetData>`, ">", "")},
		"number formats": {
			"x.xlsx", book(cells, ">",
				"<numFmts>"+list(100_000, "",
					func(i int) string { return fmt.Sprintf(`<numFmt numFmtId="%d" formatCode="yyyy%d"/>`, i, i) })+
					"</numFmts>")},
		"distinct members": {
			"x.ndjson", list(50_000, "\n", func(i int) string { return fmt.Sprintf(`{"k%d":1}`, i) })},
		"members of one object": {
			"x.json", "[{" + list(200_000, ",", func(i int) string { return fmt.Sprintf(`"k%d":1`, i) }) + "}]"},
		"deep arrays":       {"x.json", strings.Repeat("[", 1<<20)},
		"long JSON numbers": {"x.json", `[{"a":` + long + `},{"a":1e` + long[:1000] + `},{"a":-0.` + long + `}]`},
		"long numbers": {"x.csv", "a,b\n" + long + ",1\n-" + long + "e9999999,2\n0." + long +
			",3\n1e-999999999,4\n"},
		"notations of dates": {"x.csv", "a,b\n" + list(150_000, "\n", func(i int) string {
			return fmt.Sprintf("%d%c%d%c%d,x", i%28+1, "./- "[i%4], i%12+1, "./- "[i/4%4], 1900+i%200)
		})},
		"numbers in many notations": {"x.csv", "a,b\n" + list(150_000, "\n", func(i int) string {
			return fmt.Sprintf(`"%s%d%c%03d%c%d",x`, []string{"$", "€ ", "", "-"}[i%4], i%999, ".,' "[i%4], i%1000,
				",."[i%2], i)
		})},
		"one line":                   {"x.csv", strings.Repeat("x y ", 8<<20)},
		"delimiters":                 {"x.csv", strings.Repeat(",", 8<<20)},
		"lines of delimiters":        {"x.csv", "a,b\n" + strings.Repeat(strings.Repeat(";,\t|", 100)+"\n", 4_000)},
		"an open quote in each line": {"x.csv", "a,b\n" + strings.Repeat("1,\"x\n", 1<<20)},
		"quotes":                     {"x.csv", "a,b\n" + strings.Repeat(`"`, 8<<20)},
		"an open quote":              {"x.csv", `"` + strings.Repeat("a,b\n", 2<<20)},
		"a long name":                {"x.csv", strings.Repeat("x", 2<<20) + ",b\n1,2\n"},
		"long names": {
			"x.csv", list(10_000, ",", func(i int) string { return fmt.Sprintf("%0990d", i) }) + "\n1\n"},
		"equal names": {"x.csv", strings.Repeat("x,", 9_999) + "x\n" +
			strings.Repeat("1,", 9_999) + "1\n"},
		"short lines": {"x.csv", strings.Repeat("\n", 1<<20)},
		"comments":    {"x.csv", strings.Repeat("# x\n", 1<<18) + "a,b\n1,2\n"},
		"zip in zip": {
			"x.zip", rowstest.Zip(t, "x.zip="+rowstest.Zip(t, "x.zip="+rowstest.Zip(t, "x.csv=a\n1\n")))},
		"gzip in gzip": {"x.csv.gz", rowstest.Gzip(rowstest.Gzip(strings.Repeat("a,b\n", 16<<20)))},
		"list elements": {"x.ndjson", list(20, "\n", func(i int) string {
			return `{"a":[` + list(50_000, ",", func(k int) string { return fmt.Sprint(i*50_000 + k) }) + `]}`
		})},
	}
}

// TestInspect_hostile reads files that were made to take much memory. Each is read, or rejected as
// invalid, and memory is bounded by the size of the file. When the context ends, reading ends.
func TestInspect_hostile(t *testing.T) {
	for name, f := range hostileFiles(t) {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, t.TempDir(), f[0], f[1])
			inspect := func(ctx context.Context) error {
				table, err := ingest.Inspect(ctx, ingest.Source{Path: path}, ingest.Options{})
				if err == nil {
					err = table.Close()
				}
				return err
			}
			var err error
			used := rowstest.Allocated(func() { err = inspect(t.Context()) })
			if err != nil && (herb.CodeOf(err) != herb.CodeInvalid || len(err.Error()) > 1000) {
				t.Errorf("error %.2000v", err)
			}
			if limit := uint64(256<<20 + 20*len(f[1])); used > limit {
				t.Errorf("a file of %d bytes allocates %d; at most %d", len(f[1]), used, limit)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			ended := errors.New("ended")
			cancel(ended)
			if again := inspect(ctx); again == nil || err == nil && !errors.Is(again, ended) {
				t.Errorf("error %v after the context has ended", again)
			}
		})
	}
}

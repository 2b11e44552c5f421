package webtest_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"herbarium/internal/access"
	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/publish"
	"herbarium/internal/publish/receive"
	"herbarium/internal/publish/review"
)

// Press is the data folder of the tests that publish. Each test has datasets of its own.
var press pressLibrary

// pressLibrary is a library that publishes files in the browser.
type pressLibrary struct {
	library
	start     sync.Once
	publisher string // key that may publish everything
}

func (p *pressLibrary) in(t testing.TB) *pressLibrary {
	t.Helper()
	p.start.Do(func() { p.err = p.prepare(context.Background()) })
	must.NoError(t, p.err)
	return p
}

func (p *pressLibrary) prepare(ctx context.Context) error {
	if err := p.open(ctx); err != nil {
		return err
	}
	p.files = receive.New(receive.Options{Dir: p.folder})
	p.queue = publish.NewQueue(publish.QueueOptions{Publisher: p.data.Publisher, Library: p.data.Library,
		Versions: p.data.Versions, Store: p.data.Store, Files: p.files, Dir: p.folder})
	p.drafts = review.New(review.Options{Queue: p.queue, Library: p.data.Library, Versions: p.data.Versions,
		Store: p.data.Store})
	secret, key := access.Mint("publisher", []herb.Scope{herb.ScopePublish, herb.ScopeDataRead}, time.Now(),
		time.Time{})
	p.publisher = secret
	return p.data.Store.AddKey(ctx, key)
}

func (p *pressLibrary) stop() {
	if p.drafts != nil {
		p.drafts.Stop()
	}
	if p.queue != nil {
		p.queue.Stop()
	}
	p.library.stop()
}

// publishText publishes a file as a dataset, with the settings of a descriptor.
func (p *pressLibrary) publishText(t *testing.T, ref, name, content string) {
	t.Helper()
	namespace, dataset, _ := strings.Cut(ref, "/")
	descriptor := fmt.Sprintf(
		`{"name": %q, "resources": [{"name": %q, "path": %q, "title": "What we sell", "schema": {"primaryKey": "Code"}}]}`, namespace, dataset, name)
	folder := filepath.Join(t.TempDir(), "source")
	must.NoError(t, os.MkdirAll(folder, 0o700))
	must.NoError(t, os.WriteFile(filepath.Join(folder, "datapackage.json"), []byte(descriptor), 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600))
	must.NoError(t, p.publishFolder(t.Context(), folder))
	must.NoError(t, p.data.Library.Refresh(t.Context()))
}

// newPress starts a server for publishing. around wraps its handler; nil: no wrapper.
func newPress(t *testing.T, around func(http.Handler) http.Handler) *site {
	t.Helper()
	return press.in(t).serve(t, around)
}

// enterKey enters the key of a publisher and returns to the page for publishing.
func (b *tab) enterKey() {
	b.Helper()
	b.Visit("/publish")
	b.Fill("#key", press.publisher+"\r")
	b.Until(`document.getElementById("send") && document.readyState === "complete"`)
}

// chooseFiles chooses files in the form, and names the dataset.
func (b *tab) chooseFiles(ref string, files ...string) {
	b.Helper()
	namespace, dataset, _ := strings.Cut(ref, "/")
	eval[bool](b, fmt.Sprintf(`(document.getElementById("namespace").value = %q, true)`, namespace))
	b.Do(chromedp.SetUploadFiles("#file", files))
	if dataset != "" || len(files) == 1 {
		eval[bool](b, fmt.Sprintf(`(document.getElementById("dataset").value = %q, true)`, dataset))
	}
}

// send submits the form and waits for the review.
func (b *tab) send() {
	b.Helper()
	b.Click(".send .primary")
	b.reviewed()
}

// reviewed waits for a complete review.
func (b *tab) reviewed() {
	b.Helper()
	b.Until(`document.readyState === "complete" && document.querySelector("#review") && !document.querySelector("#publish[data-refresh], #publish[aria-busy]")`)
}

// edit uses a button that changes the review, and waits for the next one.
func (b *tab) edit(act func()) {
	b.Helper()
	eval[bool](b, `(document.getElementById("publish").dataset.before = "", true)`)
	act()
	b.Until(`document.getElementById("publish") && document.getElementById("publish").dataset.before === undefined`)
	b.reviewed()
}

// change changes an input of the review and waits for the next one. Without a script, it submits
// the form.
func (b *tab) change(act func()) {
	b.Helper()
	b.edit(func() {
		act()
		if b.NoScript {
			b.Click(".settings .nojs button")
		}
	})
}

// setValue changes an input as a user does who leaves it.
func (b *tab) setValue(selector, value string) {
	b.Helper()
	eval[bool](b, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.focus();
		e.value = %q;
		e.dispatchEvent(new Event("input", { bubbles: true }));
		e.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`, selector, value))
}

// inputValue returns the value of an input.
func (b *tab) inputValue(selector string) string {
	b.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector(%q).value`, selector))
}

// live waits for the page of a dataset after a publish.
func (b *tab) live(ref string) {
	b.Helper()
	b.Until(`location.pathname === ` + quote("/datasets/"+ref) + ` && document.querySelector(".done")`)
	b.settled()
}

// file writes a file to send.
func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// stockCSV is a price list with a title and a footnote. prices replace those of the first plants.
func stockCSV(prices ...string) string { return stockRows(40, prices...) }

// stockRows is a price list of a number of plants.
func stockRows(rows int, prices ...string) string {
	var b strings.Builder
	b.WriteString("Price list of the nursery on the hill,,,\n,,,\nCode,Name,Price,Weight\n")
	names := []string{"Dog rose", "Lady fern", "Hazel", "Wood anemone", "Field maple", "Spindle", "Guelder rose", "Yew"}
	for i := range rows {
		price := fmt.Sprintf("%d.50", i+1)
		if i < len(prices) && prices[i] != "" {
			price = prices[i]
		}
		fmt.Fprintf(&b, "%05d,%s,%s,%d.%d\n", 41+i, names[i%len(names)], price, i%5, i%10)
	}
	b.WriteString(",,,\nPrices include tax. Printed in November.,,,\n")
	return b.String()
}

// liveCSV is the price list that is live.
func liveCSV() string { return liveRows(38) }

func liveRows(rows int) string {
	var b strings.Builder
	b.WriteString("Code,Name,Price\n")
	for i := range rows {
		fmt.Fprintf(&b, "%05d,Plant %d,%d.50\n", 41+i, i, i+1)
	}
	return b.String()
}

// workbook returns an XLSX file with sheets of inline strings: name, rows, name, rows, …. Cells are
// separated by commas, rows by semicolons.
func workbook(t testing.TB, sheets ...string) string {
	t.Helper()
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const relations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	parts := map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels": relations + `<Relationship Id="rId1" Type="` + office +
			`officeDocument" Target="xl/workbook.xml"/></Relationships>`,
	}
	list, related := "", relations
	for i := 0; i+1 < len(sheets); i += 2 {
		id := fmt.Sprint(i/2 + 1)
		list += `<sheet name="` + sheets[i] + `" sheetId="` + id + `" r:id="rId` + id + `"/>`
		related += `<Relationship Id="rId` + id + `" Type="` + office + `worksheet" Target="worksheets/sheet` +
			id + `.xml"/>`
		content := ""
		for row := range strings.SplitSeq(sheets[i+1], ";") {
			content += "<row>"
			for cell := range strings.SplitSeq(row, ",") {
				content += `<c t="inlineStr"><is><t>` + cell + `</t></is></c>`
			}
			content += "</row>"
		}
		parts["xl/worksheets/sheet"+id+".xml"] = `<worksheet ` + main + `><sheetData>` + content +
			`</sheetData></worksheet>`
	}
	parts["xl/workbook.xml"] = `<workbook ` + main + `><sheets>` + list + `</sheets></workbook>`
	parts["xl/_rels/workbook.xml.rels"] = related + `</Relationships>`
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range parts {
		w, err := z.Create(name)
		must.NoError(t, err)
		_, err = w.Write([]byte(content))
		must.NoError(t, err)
	}
	must.NoError(t, z.Close())
	return out.String()
}

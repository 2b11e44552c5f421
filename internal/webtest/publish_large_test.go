package webtest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"

	"herbarium/internal/herb"
	"herbarium/internal/must"
	"herbarium/internal/programtest"
)

// TestPublishing_large publishes a file of 500 MB from the browser to the program, edits it in
// between, and logs the time of each step and the memory of both.
func TestPublishing_large(t *testing.T) {
	onlyInSoakRuns(t)
	const size, ref = 500 << 20, "large/prices"
	folder := t.TempDir()
	rows := writeLargeFile(t, filepath.Join(folder, "prices.csv"), size)
	program, err := programtest.Install(t.Context(), folder)
	must.NoError(t, err)
	data := "HERBARIUM_DATA=" + filepath.Join(folder, "data")
	server, err := programtest.Start(t.Context(), programtest.Options{Program: program, Settings: []string{data}})
	must.NoError(t, err)
	t.Cleanup(server.Kill)
	key, code, err := programtest.Run(t.Context(), program, []string{data}, "keys", "create", "--name", "publisher",
		"--scope", "publish", "--scope", "data:read")
	if err != nil || code != 0 {
		t.Fatalf("keys create: %d %v %s", code, err, key)
	}
	b := open(t, &site{url: server.URL}, tabOptions{Fails: []int{401}})
	stop := b.watchMemory(server.PID())
	began := time.Now()
	step := func(name, js string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Minute); ; {
			ok, err := chromedp.Run(b.DevTools, chromedp.Evaluate[bool]("Boolean("+js+")"))
			if err == nil && ok {
				break
			}
			if time.Now().After(deadline) || t.Context().Err() != nil {
				t.Fatalf("%s: not reached: %s", name, b.Text("body"))
			}
			select {
			case <-time.After(200 * time.Millisecond):
			case <-t.Context().Done():
			}
		}
		t.Logf("%s after %s", name, time.Since(began).Round(100*time.Millisecond))
		began = time.Now()
	}
	b.Visit("/publish")
	b.Fill("#key", strings.TrimSpace(key)+"\r")
	b.Until(`document.getElementById("send") && document.readyState === "complete"`)
	b.chooseFiles(ref, filepath.Join(folder, "prices.csv"))
	began = time.Now()
	b.Click(".send .primary")
	step("sending is shown",
		`document.querySelector(".sending progress")?.value > 0 || document.getElementById("review")`)
	step("received", `document.getElementById("review")`)
	const reviewed = `document.querySelector("#review .publish-foot .primary") && !document.querySelector("#publish[data-refresh], #publish[aria-busy]")`
	step("reviewed", reviewed)
	if got := b.Text(".publish-foot .primary"); got != "Publish "+herb.Count(rows)+" records" {
		t.Errorf("the button is %q", got)
	}
	b.setValue("#name-1", "plant")
	step("checked again", reviewed+` && document.querySelector("input[name=was-name-1]")?.value === "plant"`)
	b.Click(".publish-foot .primary")
	step("progress is shown", `document.querySelector(".start progress") || location.pathname.startsWith("/datasets/")`)
	step("live", `location.pathname === "/datasets/`+ref+`" && document.querySelector(".done")`)
	b.settled()
	if got := b.Text(".done"); !strings.HasPrefix(got, "Published. "+herb.Count(rows)+" rows") {
		t.Errorf("the page says %q", got)
	}
	serverMemory, browserMemory := stop()
	t.Logf("%d rows; server: peak %d MB, of it heap and stacks %d MB; browser: all processes %d MB",
		rows, serverMemory.Peak>>20, serverMemory.Anon>>20, browserMemory>>20)
}

// writeLargeFile writes a CSV file of at least a size and returns the number of its rows.
func writeLargeFile(t *testing.T, path string, size int64) (rows int) {
	t.Helper()
	f, err := os.Create(path)
	must.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	written, _ := w.WriteString("code,name,price,sold_since,remark\n")
	for total := int64(written); total < size; rows++ {
		n, err := fmt.Fprintf(w,
			"%08d,Plant %d of the nursery,%d.%02d,20%02d-%02d-%02d,grows in row %d of bed %d and likes %s\n",
			rows, rows%9973, rows%200, rows%100, rows%25, rows%12+1, rows%28+1, rows%1000, rows%77,
			[]string{"sun", "shade", "water"}[rows%3])
		must.NoError(t, err)
		total += int64(n)
	}
	must.NoError(t, w.Flush())
	must.NoError(t, f.Close())
	return rows
}

// watchMemory samples the memory of the server and of all processes of the browser until stop is
// called, which returns the most that was seen.
func (b *tab) watchMemory(server int) (stop func() (programtest.Memory, int64)) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	var watching sync.WaitGroup
	var ofServer programtest.Memory
	var ofBrowser int64
	watching.Go(func() { ofServer = programtest.WatchMemory(ctx, server) })
	watching.Go(func() {
		for ctx.Err() == nil {
			info, err := chromedp.CallBrowser(b.DevTools, systeminfo.GetProcessInfo, cdp.Empty{})
			if err != nil {
				return
			}
			var total int64
			for _, p := range info.ProcessInfo {
				if m, err := programtest.MemoryOf(int(p.ID)); err == nil {
					total += m.Anon
				}
			}
			ofBrowser = max(ofBrowser, total)
			select {
			case <-ctx.Done():
			case <-time.After(250 * time.Millisecond):
			}
		}
	})
	return func() (programtest.Memory, int64) {
		cancel()
		watching.Wait()
		return ofServer, ofBrowser
	}
}

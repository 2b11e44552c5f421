//go:build unix

package httpapi_test

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strconv"
	"syscall"
	"testing"
	"time"

	"herbarium/internal/httpapi/connection"
)

// BenchmarkServer measures requests over loopback connections, for the first page of a listing,
// also compressed, and for a handler that only writes the same bytes. Compare the processor time:
// other processes do not change it.
func BenchmarkServer(b *testing.B) {
	const target = "/api/v1/garden/catalog/data"
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // as in a server
	api := preparedAPI(b, discardLog())
	w := httptest.NewRecorder()
	api.ServeHTTP(w, request("GET", target, ""))
	body := w.Body.Bytes()
	constant := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	})
	for _, bm := range []struct {
		name    string
		handler http.Handler
		header  string
	}{
		{"constant", constant, ""},
		{"first page", api, ""},
		{"first page, gzip", api, "Accept-Encoding: gzip\r\n"},
		{"first page, zstd", api, "Accept-Encoding: zstd\r\n"},
	} {
		b.Run(bm.name, func(b *testing.B) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			server := connection.NewServer(bm.handler, slog.New(slog.DiscardHandler))
			serving := l
			if bm.handler == http.Handler(api) {
				serving = connection.Listener(l, 0)
			}
			go func() { _ = server.Serve(serving) }()
			defer server.Close()
			b.SetParallelism(8)
			b.ReportAllocs()
			before := cpuTime(b)
			b.RunParallel(func(pb *testing.PB) {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Error(err)
					return
				}
				defer c.Close()
				in := bufio.NewReaderSize(c, 64<<10)
				for pb.Next() {
					_, _ = io.WriteString(c, "GET "+target+" HTTP/1.1\r\nHost: a\r\n"+bm.header+"\r\n")
					if err := skipResponse(in); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// skipResponse reads a response with a Content-Length as cheaply as possible.
func skipResponse(in *bufio.Reader) error {
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, err = strconv.Atoi(string(bytes.TrimSpace(value)))
			if err != nil {
				return err
			}
		}
		if len(line) == 2 {
			_, err := in.Discard(length)
			return err
		}
	}
}

// cpuTime returns the processor time that the process has used, including the client of the
// benchmark.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

package plot_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herbarium/bench/internal/plot"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGolden(t *testing.T) {
	t.Parallel()
	bars := plot.Bars{
		Title: "Bars & <more>", Subtitle: "p50", Labels: []string{"first", "word of 40 %"},
		Series: []plot.Series{
			{Name: "one", Color: plot.Green, Values: []float64{31e-6, 1.5e-3}},
			{Name: "two", Color: plot.Orange, Values: []float64{0.25, 0}},
			{Name: "three", Color: plot.Gray, Values: []float64{2, 20e-6}},
		},
	}
	lines := plot.Lines{
		Title: "Lines", Subtitle: "p50", XTitle: "records", X: []float64{1e4, 1e5, 1e6}, XLabels: []string{"10k", "100k", "1M"}, LogX: true,
		Panels: []plot.Panel{
			{Title: "a", Series: []plot.Series{
				{Name: "one", Values: []float64{1e-4, 2e-4, 3e-4}},
				{Name: "two", Color: plot.Orange, Dashed: true, Values: []float64{1e-3, 0.1, 0}},
			}},
			{Title: "b", Series: []plot.Series{{Name: "one", Values: []float64{0, 0, 0}}}},
			{Title: "c"},
		},
	}
	for name, got := range map[string][]byte{
		"bars": bars.SVG(), "lines": lines.SVG(), "empty": plot.Lines{Title: "Nothing"}.SVG(), "bare": plot.Bars{}.SVG(),
	} {
		wellFormed(t, name, got)
		golden := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatalf("%v; go test -update writes it", err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func wellFormed(t *testing.T, name string, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for s, want := range map[float64]string{
		0: "0.00 µs", 0.4e-6: "0.40 µs", 12.34e-6: "12.3 µs", 999.4e-6: "999 µs", 999.6e-6: "1.00 ms", 0.00999: "9.99 ms",
		0.25: "250 ms", 0.9994: "999 ms", 1: "1.00 s", 12: "12.0 s", 600: "600 s",
	} {
		if got := plot.Seconds(s); got != want {
			t.Errorf("%v is %q; want %q", s, got, want)
		}
	}
}

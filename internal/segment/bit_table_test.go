package segment

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"herbarium/internal/filesystem"
)

// TestBitTable compares the sets of a table of one and of several blocks with those of inverted.
func TestBitTable(t *testing.T) {
	t.Parallel()
	const numbers, records = 7, 10_001
	for name, memory := range map[string]int{"one block": 1 << 20, "blocks": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tmp := newTempDir(filesystem.OS{}, t.TempDir(), 1<<20, 1)
			defer func() {
				if err := tmp.close(); err != nil {
					t.Error(err)
				}
			}()
			g := rand.New(rand.NewPCG(1, 2))
			table, inverted := newBitTable(tmp, numbers, records, memory), newInverted(tmp, 1<<20)
			inverted.numbers = numbers
			for record := range uint32(records) {
				for number := range uint32(numbers) {
					times := max(g.IntN(int(number)+3)-2, 0)
					if record == 5000 {
						times = int(number) * 100 // exceeds the maximum frequency
					}
					for range times {
						table.add(number, record)
						inverted.add(number, record)
					}
				}
				if err := table.next(); err != nil {
					t.Fatal(err)
				}
			}
			if blocks := len(table.runs); blocks > 0 != (memory == 1) {
				t.Errorf("%d blocks were written", blocks)
			}
			found, freqs, err := table.sets(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			wantFound, wantTwice, _, err := inverted.sets(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, sets := range [][2]setsWriter{{found, wantFound}, {freqs, wantTwice}} {
				if got, want := written(t, sets[0]), written(t, sets[1]); !bytes.Equal(got, want) {
					t.Errorf("section %d has %d bytes, want %d others", i, len(got), len(want))
				}
			}
		})
	}
}

// written returns the encoded table with its sets.
func written(t *testing.T, w setsWriter) []byte {
	t.Helper()
	r, err := w.body.reader()
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(fmt.Append(nil, w.starts, w.at), body...)
}

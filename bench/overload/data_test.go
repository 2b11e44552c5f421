//go:build unix

package overload

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"herbarium/bench/gen"
)

// Sizes of the datasets besides those of bench/gen.
const (
	largeRecords = 100 // of largeSize bytes
	largeSize    = 1 << 20
	longTexts    = 2000 // of longWords words
	longWords    = 2000
	wideColumns  = 5000
)

// writeDatasets writes the files of all datasets into a folder and returns them by name.
func writeDatasets(ctx context.Context, folder string) (files map[string]string, err error) {
	files = map[string]string{}
	for name, n := range map[string]int{"soak/records": records, "soak/again": records / 10} {
		files[name], err = gen.File(ctx, folder, 1, n)
		if err != nil {
			return nil, err
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for name, write := range map[string]func(*bufio.Writer){
		"large": func(w *bufio.Writer) {
			fmt.Fprintln(w, "id,shape")
			for i := range largeRecords {
				fmt.Fprintf(w, "%d,%d%s\n", i, i, strings.Repeat(" polygon", largeSize/len(" polygon")))
			}
		},
		"long": func(w *bufio.Writer) { // words of which most are rare, and all begin with one of four letters
			fmt.Fprintln(w, "id,text")
			for i := range longTexts {
				fmt.Fprintf(w, "%d,", i)
				for range longWords {
					fmt.Fprintf(w, "%c%x ", 'a'+random.IntN(4), random.IntN(1<<18))
				}
				fmt.Fprintln(w)
			}
		},
		"wide": func(w *bufio.Writer) {
			for i := range wideColumns {
				fmt.Fprintf(w, "column_%d,", i)
			}
			fmt.Fprintf(w, "last\n%s1\n", strings.Repeat("1,", wideColumns))
		},
	} {
		path := filepath.Join(folder, name+".csv")
		file, err := os.Create(path)
		if err != nil {
			return nil, err
		}
		w := bufio.NewWriter(file)
		write(w)
		if err := w.Flush(); err != nil { // the error of any write
			return nil, err
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
		files["soak/"+name] = path
	}
	return files, nil
}

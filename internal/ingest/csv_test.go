package ingest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"herbarium/internal/herb"
	"herbarium/internal/testseed"
)

// readRows reads everything and copies it.
func readRows(r rowReader) ([][]string, error) {
	var out [][]string
	for {
		cells, err := r.next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		out = append(out, row)
	}
}

// asText is what a reader gets of a file.
func asText(src io.Reader) (io.Reader, error) {
	content := bufio.NewReaderSize(src, (64 << 10))
	head, err := content.Peek((64 << 10))
	if err != nil && err != io.EOF {
		return content, nil
	}
	text, _, err := openText(content, head, "", "", 0)
	if _, ok := src.(*strings.Reader); ok {
		return text, err
	}
	return iotest.OneByteReader(text), err
}

// readCSV returns header and records together.
func readCSV(src io.Reader, delimiter byte, limit int) ([][]string, error) {
	text, err := asText(src)
	if err != nil {
		return nil, err
	}
	c, err := newCSVReader(text, oldDialect{Delimiter: delimiter}, nil, limit)
	if err != nil {
		return nil, err
	}
	rows, err := readRows(c)
	return append([][]string{c.columns()}, rows...), err
}

func TestCSVReader(t *testing.T) {
	t.Parallel()
	type rows = [][]string
	tests := []struct {
		name, in string
		want     rows
	}{
		{"plain", "a,b\n1,2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"no line end at the end", "a,b\n1,2", rows{{"a", "b"}, {"1", "2"}}},
		{"header only", "a,b\n", rows{{"a", "b"}}},
		{"header only, no line end", "a,b", rows{{"a", "b"}}},
		{"carriage return and line feed", "a,b\r\n1,2\r\n", rows{{"a", "b"}, {"1", "2"}}},
		{"lone carriage return", "a,b\r1,2\r3,4", rows{{"a", "b"}, {"1", "2"}, {"3", "4"}}},
		{"mixed line ends", "a,b\r1,2\n3,4\r\n5,6", rows{{"a", "b"}, {"1", "2"}, {"3", "4"}, {"5", "6"}}},
		{"byte order mark", "\xEF\xBB\xBFa,b\n1,2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"byte order mark before a quote", "\xEF\xBB\xBF\"a\",b\n", rows{{"a", "b"}}},
		{"byte order mark inside stays", "a,b\n\xEF\xBB\xBF1,2\n", rows{{"a", "b"}, {"\uFEFF1", "2"}}},
		{"quotes", "a,b\n\"1,\"\"x\"\"\",\"\"\n", rows{{"a", "b"}, {`1,"x"`, ""}}},
		{"only quotes", "a\n\"\"\"\"\n\"\"\"\"\"\"\n", rows{{"a"}, {`"`}, {`""`}}},
		{"line ends in quotes stay", "a,b\n\"x\r\ny\",\"\n\r\r\n\"\n", rows{{"a", "b"}, {"x\r\ny", "\n\r\r\n"}}},
		{"quote inside a plain value", "a,b\n5\" pot,x\"y\"\n", rows{{"a", "b"}, {`5" pot`, `x"y"`}}},
		{"quote after a blank is plain", "a,b\n \"x\",y\n", rows{{"a", "b"}, {` "x"`, "y"}}},
		{"blanks stay", "a,b\n x ,\ty\t\n", rows{{"a", "b"}, {" x ", "\ty\t"}}},
		{"short rows", "a,b,c\n1\n1,2\n", rows{{"a", "b", "c"}, {"1"}, {"1", "2"}}},
		{"empty values", "a,b,c\n,,\n1,,3\n,", rows{{"a", "b", "c"}, {"", "", ""}, {"1", "", "3"}, {"", ""}}},
		{"surplus values that are empty", "a;b\n;;;\n1;2;\n", rows{{"a", "b"}, {"", ""}, {"1", "2"}}},
		{"blank lines", "\n\r\na\n\n1\r\n\r\n\r2\n\n", rows{{"a"}, {"1"}, {"2"}}},
		{"an empty value in quotes is no blank line", "a\n\"\"\n1\n", rows{{"a"}, {""}, {"1"}}},
		{"a line of blanks is no blank line", "a\n \n", rows{{"a"}, {" "}}},
		{"semicolons", "a;b\n1,5;2\n", rows{{"a", "b"}, {"1,5", "2"}}},
		{"tabs", "a\tb\n1\t2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"bars", "a|b\n1|2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"a comma wins", "a;b;c,d\n1,2\n", rows{{"a;b;c", "d"}, {"1", "2"}}},
		{"a comma in quotes does not count", "\"a,b\";c\n1;2\n", rows{{"a,b", "c"}, {"1", "2"}}},
		{"a comma in quotes with quotes does not count", "\"a\"\",b\";c\n1;2\n", rows{{`a",b`, "c"}, {"1", "2"}}},
		{"a quote inside a plain name", "5\" pot;b\n1;2\n", rows{{`5" pot`, "b"}, {"1", "2"}}},
		{"the most frequent of others", "a|b;c;d\n1;2;3\n", rows{{"a|b", "c", "d"}, {"1", "2", "3"}}},
		{"delimiter of the header behind blank lines", "\n\na;b\n1;2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"blanks around names", " a , b\n1,2\n", rows{{"a", "b"}, {"1", "2"}}},
		{"zero bytes", "a\n\x00\n", rows{{"a"}, {"\x00"}}},
		{"characters of all lengths", "å,植\n🌱,é\n", rows{{"å", "植"}, {"🌱", "é"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readCSV(strings.NewReader(tt.in), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
			got, err = readCSV(iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(tt.in))), 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("rows read byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSVReader_Refuses(t *testing.T) {
	t.Parallel()
	const orLine = ", or say which line names the columns if it is not the first"
	tests := []struct{ name, in, want string }{
		{"nothing", "", "the file is empty; its first line must name the columns"},
		{"a mark alone", "\xEF\xBB\xBF", "the file is empty; its first line must name the columns"},
		{"blank lines alone", "\n\r\n\r", "the file is empty; its first line must name the columns"},
		{"long row", "a,b\n1,2\n\n1,2,3\n", `line 4: there are 3 values but the header names 2 columns; put quotes around a value that contains ","` + orLine},
		{"long row after line ends in quotes", "a,b\n\"x\r\ny\rz\",\"\n\"\n1,2,3\n",
			`line 6: there are 3 values but the header names 2 columns; put quotes around a value that contains ","` + orLine},
		{"text after a quote", "a,b\n1,2\n\"x\ny\"z,2\n", `line 4: text follows the closing quote of a value; write a quote inside a value twice ("")`},
		{"blank after a quote", "a\n\"x\" \n", `line 2: text follows the closing quote of a value; write a quote inside a value twice ("")`},
		{"open quote", "a,b\n1,2\n\"x\n\",\"y\nz\n", "line 4: the quote opened here is never closed; end the value with a quote"},
		{"open quote at the end", "a\n\"", "line 2: the quote opened here is never closed; end the value with a quote"},
		{"open quote in the header", "\"a,b\n1,2\n", "line 1: the quote opened here is never closed; end the value with a quote"},
		{"doubled quote at the end", "a\n\"x\"\"", "line 2: the quote opened here is never closed; end the value with a quote"},
		{"a row of many more values", "a\n" + strings.Repeat(",", 2*MaxColumns) + "\n",
			`line 2: there are 20001 values but the header names 1 columns; put quotes around a value that contains ","` + orLine},
		{"too many columns", strings.Repeat(",", MaxColumns) + "\n", "line 1: the header has 10001 columns; at most 10000 are possible"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				_, err := readCSV(src, 0, 0)
				if err == nil || err.Error() != tt.want || herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error %v\nwant %s", err, tt.want)
				}
			}
		})
	}
}

func TestCSVReader_RecordLimit(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("x", 99)
	rows, err := readCSV(strings.NewReader("a\n"+value+"\n"+value+"\r"+value), 0, 100)
	if err != nil || len(rows) != 4 {
		t.Fatalf("records that just fit: got %d rows and error %v", len(rows), err)
	}
	for in, want := range map[string]string{
		"a\n1\n" + value + "yz\n":               "line 3: the record is longer than 100 bytes, which is the most that one may have",
		"a,b\n1,\"x\ny\"\n1,\"" + value + value: "line 4: the record is longer than 100 bytes; is the quote opened in line 4 never closed?",
	} {
		if _, err := readCSV(strings.NewReader(in), 0, 100); err == nil || err.Error() != want {
			t.Errorf("got error %v\nwant %s", err, want)
		}
	}
}

func TestCSVReader_FailsAsItsSourceDoes(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"", "a,b\n", "a,b\n1", "a,b\n1,\"x", "a,b\n1,\"x\"", "a,b\r"} {
		_, err := readCSV(io.MultiReader(strings.NewReader(in), iotest.ErrReader(io.ErrClosedPipe)), ',', 0)
		if err != io.ErrClosedPipe {
			t.Errorf("after %q: got error %v, want %v", in, err, io.ErrClosedPipe)
		}
	}
}

// writeCSV writes rows the plainest way: every value in quotes.
func writeCSV(rows [][]string, comma byte, end string) []byte {
	var b bytes.Buffer
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				b.WriteByte(comma)
			}
			b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `"`)
		}
		b.WriteString(end)
	}
	return b.Bytes()
}

// readPlainCSV is readCSV with nothing left to be found out.
func readPlainCSV(src io.Reader, delimiter byte) ([][]string, error) {
	text := newTextReader(iotest.OneByteReader(src), utf8Decoder{}, strictly(utf8Name))
	c, err := newCSVReader(text, oldDialect{Delimiter: delimiter, Quote: '"'}, nil, 0)
	if err != nil {
		return nil, err
	}
	rows, err := readRows(c)
	return append([][]string{c.columns()}, rows...), err
}

func TestCSVReader_ReturnsWhatWasWritten(t *testing.T) {
	t.Parallel()
	seed := testseed.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	alphabet := []string{"a", "B", "7", " ", ",", ";", "\t", "|", `"`, `""`, "\r", "\n", "\r\n", "é", "植", "🌱", "e\u0301", "\x00", "\uFEFF"}
	for n := range 300 {
		width := 1 + rng.IntN(5)
		rows := make([][]string, 1+rng.IntN(8))
		for i := range rows {
			rows[i] = make([]string, width)
			for k := range rows[i] {
				if i == 0 {
					rows[i][k] = fmt.Sprintf("name%d", k)
					continue
				}
				for range rng.IntN(12) {
					rows[i][k] += alphabet[rng.IntN(len(alphabet))]
				}
			}
		}
		comma := ",;\t|"[rng.IntN(4)]
		in := writeCSV(rows, comma, []string{"\n", "\r\n", "\r"}[rng.IntN(3)])
		got, err := readPlainCSV(bytes.NewReader(in), comma)
		if err != nil {
			t.Fatalf("seed %d, case %d: %v\n%q", seed, n, err, in)
		}
		if diff := cmp.Diff(rows, got); diff != "" {
			t.Fatalf("seed %d, case %d (-want +got):\n%s", seed, n, diff)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"", "a,b\n1,2\n", "\xEF\xBB\xBFa;b\r\n\"x\r\n\"\"y\";2\r\n", "a\r\"\"\r\r1", "\"a,b\n", "a\n\"x\"y", "a,b\n1,2,3", "a\n\xFF",
	} {
		f.Add([]byte(s), byte(0))
	}
	f.Fuzz(func(t *testing.T, in []byte, delimiter byte) {
		if delimiter != 0 && !validDelimiter(delimiter) {
			return
		}
		text, err := asText(bytes.NewReader(in))
		if err != nil {
			return
		}
		c, err := newCSVReader(text, oldDialect{Delimiter: delimiter}, nil, 1<<20)
		if err != nil {
			return
		}
		rows, err := readRows(c)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid {
				t.Fatalf("an error without a code: %v", err)
			}
			return
		}
		rows = append([][]string{c.columns()}, rows...)
		comma := max(c.d.Delimiter, 1) // any, if each line is one value
		again, err := readPlainCSV(bytes.NewReader(writeCSV(rows, comma, "\n")), comma)
		if err != nil {
			t.Fatalf("what was read and written is refused: %v", err)
		}
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Fatalf("read, written and read again (-first +second):\n%s", diff)
		}
	})
}

package ingest

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// FuzzEncoding holds the strict decoders against those that substitute: what is accepted is what they make of it, without
// a substitute that was not there.
func FuzzEncoding(f *testing.F) {
	f.Add([]byte("植\x90A\x95\xA8\x84\x31\xA4\x37\r\n"), byte(0))
	f.Add([]byte("\x1B$B?\"\x1B(Bx"), byte(3))
	f.Fuzz(func(t *testing.T, in []byte, which byte) {
		names := []string{"shift_jis", "gb18030", "windows-1252", "iso-2022-jp"}
		i := int(which) % len(names)
		dec, err := newDecoder(names[i])
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(newTextReader(iotest.HalfReader(bytes.NewReader(in)), dec, strictly(names[i])))
		loose := []interface{ Bytes([]byte) ([]byte, error) }{
			japanese.ShiftJIS.NewDecoder(), simplifiedchinese.GB18030.NewDecoder(), charmap.Windows1252.NewDecoder(), japanese.ISO2022JP.NewDecoder(),
		}[i]
		want, looseErr := loose.Bytes(in)
		if looseErr != nil {
			t.Skip()
		}
		if err != nil {
			if !bytes.Contains(want, []byte(substitute)) {
				t.Fatalf("%s: %q is refused (%v) although it is %q", names[i], in, err, want)
			}
			return
		}
		if !bytes.Equal(got, want) || bytes.Count(want, []byte(substitute)) > bytes.Count(in, []byte(substituteGB18030)) {
			t.Fatalf("%s: %q is read as %q, want %q", names[i], in, got, want)
		}
	})
}

package webtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPublishing_encoding chooses the encoding of a file by its words, with and without a script.
func TestPublishing_encoding(t *testing.T) {
	t.Parallel()
	for _, script := range scriptModes() {
		t.Run(fmt.Sprintf("script=%v", script), func(t *testing.T) {
			t.Parallel()
			b := open(t, newPress(t, nil), tabOptions{NoScript: !script, Fails: []int{401}})
			b.enterKey()
			b.chooseFiles(fmt.Sprintf("nursery/encoding-%v", script),
				file(t, "towns.csv", "id,name\n1,\xa3\xf3d\xbc\n2,Krak\xf3w\n3,Gda\xf1sk\n"))
			b.send()
			labels := strings.Join(b.Texts("#encoding option"), "\n")
			if !strings.Contains(labels, "ISO-8859-2: Łódź, Kraków, Gdańsk") ||
				!strings.Contains(labels, "Windows-1252: £ód¼") {
				t.Fatalf("the encodings are\n%s", labels)
			}
			for encoding, want := range map[string]string{"Windows-1252": "£ód¼", "ISO-8859-2": "Łódź"} {
				value := eval[string](b,
					fmt.Sprintf(`[...document.querySelectorAll("#encoding option")].find((o) => o.textContent.startsWith(%q)).value`, encoding))
				if eval[string](b, `document.getElementById("encoding").value`) == value {
					continue
				}
				b.change(func() { b.setValue("#encoding", value) })
				if got := b.Text("#r2 td:nth-of-type(2)"); got != want {
					t.Errorf("in %s, the first town is %q", encoding, got)
				}
			}
		})
	}
}

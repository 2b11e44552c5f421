package cli_test

import (
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	e.must(t, "publish", write(t, "prices.csv", "id,price\n1,5\n"), "--as", "shop/prices")
	version := strings.Fields(strings.Split(e.must(t, "datasets", "history", "shop/prices"), "\n")[1])[0]
	for _, c := range []struct {
		line, typed string
		want        []string // in the output, each as a line
	}{
		{"datasets", "re", []string{"remove\t", "report\t"}},
		{"datasets show", "", []string{"shop/prices\n", "store/plants\n"}},
		{"datasets remove", "sh", []string{"shop/prices\n"}},
		{"datasets report shop/prices --version", "", []string{version + "\t1 record\n"}},
		{"datasets rollback shop/prices --version", "", []string{version + "\t"}},
		{"datasets diff shop/prices", "", []string{version + "\t"}},
		{"export", "", []string{"shop/prices\n"}},
		{"export shop/prices --format", "", []string{"csv\n", "ndjson\n", "xlsx\n"}},
		{"audit --dataset", "", []string{"shop/prices\n"}},
		{"publish a.csv --access", "", []string{"open\n", "key\n"}},
		{"datasets --log-level", "", []string{"debug\n", "warn\n"}},
	} {
		args := append([]string{"__complete"}, strings.Fields(c.line)...)
		out := e.must(t, append(args, c.typed)...)
		for _, want := range c.want {
			if !strings.Contains("\n"+out, "\n"+want) {
				t.Errorf("%s %q offers\n%swithout %q", c.line, c.typed, out, want)
			}
		}
	}
	// Without data, completion prints no error and creates nothing.
	if out := newEnvironment(t).must(t, "__complete", "datasets", "show", ""); out != ":1\n" {
		t.Errorf("without data, completion prints %q", out)
	}
}

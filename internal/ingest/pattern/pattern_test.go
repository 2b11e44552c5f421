package pattern

import (
	"regexp"
	"strings"
	"testing"

	"herbarium/internal/herb"
)

// FuzzPattern compares matches with those of package regexp, and checks that the number of steps is
// limited.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{
		"", "a", "a|b", "a|", "(a|ab)(c|bcd)", "[a-z]{2,4}", `\d{4}-\d{2}`, "a*?b+?", "(?i)ÄB", `^a$`, `\bfoo\b.*`,
		"(?m)^a$\n^b$", `\A\z`, "[^a]", ".", "(?s).", `\pL+`,
		"((a?){500}){2}a*[0-9]*", "((a?){20}){2}a*[0-9]*", "(a*)*", "(a|a)*b", "(x+x+)+y", "[[:alpha:]]", "a{0}",
		"(?:)", `a\Bb`, "(", "(?=x)", "a{1001}", "é|😀", "(a{0,30}){0,30}",
	} {
		for _, v := range []string{"", "a", "ab", "abcd", "2024-05", "foo bar", "a\nb", "äB",
			"aaaaaaaaaaaaaaaaaaaaaaaaa!", "\xff", "é", "😀", "xxxxxxxxxxx"} {
			f.Add(p, v)
		}
	}
	f.Fuzz(func(t *testing.T, expression, value string) {
		if len(value) > 1000 {
			return
		}
		p, err := Compile(expression)
		if err != nil {
			if herb.CodeOf(err) != herb.CodeInvalid || len(err.Error()) > 1000 {
				t.Fatal(err)
			}
			return
		}
		if p.Size() > 2*maxInstructions {
			t.Fatalf("%q: %d instructions", expression, p.Size())
		}
		b := NewBudget()
		got := p.Match(value, &b)
		if b.Exceeded() {
			t.Fatalf("%q exceeds the budget", value)
		}
		reference, err := regexp.Compile(`^(?:` + expression + `)$`)
		if err != nil { // of \Q, which quotes to the end
			return
		}
		if want := reference.MatchString(value); got != want {
			t.Errorf("%q matches %q: %t, want %t", expression, value, got, want)
		}
		if again := p.Match(value, &b); again != got {
			t.Errorf("%q matches %q the second time: %t", expression, value, again)
		}
	})
}

func TestCompile_limits(t *testing.T) {
	t.Parallel()
	for expression, problem := range map[string]string{
		"((a?){500}){2}a*[0-9]*": "instructions; a pattern has at most 2,000", "[a-z]{1,1000}": "",
		"((((a{10}){10}){10}){10}){10}": "not supported",
		strings.Repeat(`\pL`, 2000):     "bytes; a pattern has at most 4 KiB", ".{0,900}": "",
		"(?:.{90}|a{90}|b{90}){10}": "2,720 instructions", `[A-Z]{2}\d{2}[A-Z0-9]{1,30}`: "", "(a": "RE2",
	} {
		_, err := Compile(expression)
		if problem == "" && err != nil || problem != "" && (err == nil || !strings.Contains(err.Error(), problem)) {
			t.Errorf("%.50q: %v", expression, err)
		}
	}
}

// TestMatch_budget matches patterns that take long, and usual ones, with many values.
func TestMatch_budget(t *testing.T) {
	t.Parallel()
	for expression, exceeds := range map[string]bool{
		"((a?){200}){2}a*[0-9]*": true, "(.*a){100}b": true, "[a-z]{1,1000}": false, ".{0,500}!": false, "a*!": false,
		`(https?://)?([a-z0-9-]+\.)+[a-z]{2,}(/.*)?`: false,
	} {
		p, err := Compile(expression)
		if err != nil {
			t.Fatal(err)
		}
		b := Budget{left: 1_000_000}
		for range 100 {
			p.Match(strings.Repeat("a", 400)+"!", &b)
		}
		if b.Exceeded() != exceeds {
			t.Errorf("%q: %d steps are left", expression, b.left)
		}
		b = Budget{left: 1_000_000}
		p.Match(strings.Repeat("a", 100_000), &b)
		if b.left < -1_000_000 {
			t.Errorf("%q: the match of a long value goes on for %d steps", expression, -b.left)
		}
	}
}

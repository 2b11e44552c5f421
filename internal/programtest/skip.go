package programtest

import (
	"os"
	"strings"
	"testing"
)

// SkipWithout skips a test because a part is missing, such as a program. It fails the test if the environment variable
// HERBARIUM_TEST_REQUIRE names the part or is "all".
func SkipWithout(t testing.TB, part, message string) {
	t.Helper()
	if required := os.Getenv("HERBARIUM_TEST_REQUIRE"); required == "all" || strings.Contains(required, part) {
		t.Fatal(message)
	}
	t.Skip(message)
}

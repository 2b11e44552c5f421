package internal_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// faultTests lists the tests of each fault in the table of docs/operations.md, as package and
// function.
func faultTests() map[string][]string {
	return map[string][]string{
		"full disk": {"systemtest TestFullDisk", "versions TestPublish_anyOperationFails",
			"systemtest TestBackup_fullDisk", "systemtest TestPublish_fullDisk"},
		"read-only disk at start": {"systemtest TestReadOnlyDisk"},
		"slow disk": {"versions TestPublish_slowDisk", "systemtest TestSlowDisk_plants",
			"plants TestService_queueFull"},
		"no file descriptors left (`EMFILE`)": {
			"systemtest TestDescriptors", "systemtest TestIdleConnections", "segment TestOpen_limits",
		},
		"failing `mmap` (`ENOMEM`)": {"segment TestOpen_limits", "library TestOpening_retried"},
		"process killed (`SIGKILL`, power failure) at any step": {
			"versions TestPublish_survivesKill", "versions TestPublish_survivesKillWithBlobs",
			"versions TestPublish_order",
			"plants TestService_survivesKill", "migrate TestMigrate_interrupted", "migrate TestBackup_survivesKill",
			"systemtest TestPublish_killed",
		},
		"clock set back":    {"versions TestPublish_clock", "access TestVerify_clock", "store IdempotencyClock"},
		"clock set forward": {"versions TestPublish_clock", "access TestVerify_clock", "store IdempotencyClock"},
		"PostgreSQL down": {
			"systemtest TestCluster", "store/postgres TestOpen_unavailable", "store/postgres TestFrozenServer",
			"library TestRestart_withoutCatalogue",
			"access TestVerify_withoutDatabase",
		},
		"object store down": {"systemtest TestCluster", "blobs TestStopped", "blobs TestFrozen",
			"versions TestPublish_objectsFail", "httpapi TestPublish_anyDependencyFails"},
	}
}

// TestDocs_faults checks that the table of faults has a test for each row.
func TestDocs_faults(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(content), "\n### Faults\n")
	if !ok {
		t.Fatal("docs/operations.md has no section Faults")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	var rows []string
	// without the head
	for _, row := range regexp.MustCompile(`(?m)^\| (.+?) \|`).FindAllStringSubmatch(section, -1)[1:] {
		rows = append(rows, row[1])
	}
	slices.Sort(rows)
	if want := slices.Sorted(maps.Keys(faultTests())); !slices.Equal(rows, want) {
		t.Errorf("docs/operations.md has the faults\n%q\nand there are tests of\n%q", rows, want)
	}
	for fault, tests := range faultTests() {
		for _, test := range tests {
			pkg, function, _ := strings.Cut(test, " ")
			if !declares(t, pkg, function) {
				t.Errorf("%s: package %s has no %s", fault, pkg, function)
			}
		}
	}
}

// declares reports whether a package has a test, or a test of a suite.
func declares(t *testing.T, pkg, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if regexp.MustCompile(`(?m)^func (\(suite\) )?` + function + `\(t \*testing\.T\b`).Match(content) {
			return true
		}
	}
	return false
}

//go:build linux || darwin

package filesystem

import "testing"

func TestDiskSpace(t *testing.T) {
	t.Parallel()
	if free, total, ok := DiskSpace(t.TempDir()); !ok || total == 0 || free > total {
		t.Errorf("DiskSpace gives %d of %d, %t", free, total, ok)
	}
	if _, _, ok := DiskSpace("/no/such/folder"); ok {
		t.Error("a folder that does not exist has space")
	}
}

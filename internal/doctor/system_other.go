//go:build !linux && !darwin

package doctor

import "io/fs"

func diskSpace(string) (free, total uint64, ok bool) { return 0, 0, false }

func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

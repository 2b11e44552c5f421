package format

import (
	"fmt"
	"strconv"
)

// FileSize formats a number of bytes as file managers do: 512 KB, 1.5 MB, of 1,024 bytes each.
func FileSize(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	size, units := float64(n)/1024, []string{"KB", "MB", "GB", "TB"}
	i := 0
	for ; size >= 1023.5 && i < len(units)-1; i++ {
		size /= 1024
	}
	if size < 9.95 && size != float64(int(size)) && i > 0 {
		return fmt.Sprintf("%.1f %s", size, units[i])
	}
	return fmt.Sprintf("%.0f %s", size, units[i])
}

package herb

import (
	"fmt"
	"strconv"
)

// FormatBytes formats a number of bytes in units of 1,024, as settings do: 512 KiB, 1.5 MiB.
func FormatBytes(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	size, units := float64(n)/1024, []string{"KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; size >= 1023.5 && i < len(units)-1; i++ {
		size /= 1024
	}
	if size < 9.95 && size != float64(int(size)) && i > 0 {
		return fmt.Sprintf("%.1f %s", size, units[i])
	}
	return fmt.Sprintf("%.0f %s", size, units[i])
}

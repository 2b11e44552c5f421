package herb

// Clip returns s, or its first limit characters and an ellipsis if it is longer, for use in a message.
func Clip(s string, limit int) string {
	n := 0
	for i := range s {
		if n++; n > limit {
			return s[:i] + "…"
		}
	}
	return s
}

package herb

// Secret is a string that is redacted when it is printed or logged.
type Secret string

// String returns whether the secret is set.
func (s Secret) String() string {
	if s == "" {
		return "(none)"
	}
	return "(hidden)"
}

// MarshalText implements encoding.TextMarshaler, for logs and JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

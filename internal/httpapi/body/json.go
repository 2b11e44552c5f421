package body

import (
	"mime"
	"net/http"
	"strings"

	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
)

// CheckJSON rejects bodies that are not plain JSON.
func CheckJSON(h http.Header) error {
	const right = "send Content-Type: application/json"
	types := h["Content-Type"]
	if len(types) != 1 {
		return herb.Invalidf("Content-Type must be given once, not %d times; %s", len(types), right)
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil || media != "application/json" {
		return herb.Invalidf("the Content-Type is %q; %s", response.Shown(types[0]), right)
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return herb.Invalidf("the charset is %q; JSON is UTF-8: %s", response.Shown(charset), right)
	}
	for _, encoding := range h["Content-Encoding"] {
		if !strings.EqualFold(encoding, "identity") && encoding != "" {
			return herb.Invalidf("the Content-Encoding is %q; send the body uncompressed", response.Shown(encoding))
		}
	}
	return nil
}

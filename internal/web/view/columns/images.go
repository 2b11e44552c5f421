package columns

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"herbarium/internal/web/view/format"
)

// imageExtensions are the extensions of the image files that browsers show.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}

// IsImagePath reports whether s is the relative path of an image file, without hidden folders.
func IsImagePath(s string) bool {
	return fs.ValidPath(s) && !strings.HasPrefix(s, ".") && !strings.Contains(s, "/.") && hasImageExtension(s)
}

// isImageFile reports whether a value is the URL or the relative path of an image file.
func isImageFile(s string) bool {
	u, err := url.Parse(s)
	return err == nil && format.IsWebAddress(s) && hasImageExtension(u.Path) || IsImagePath(s)
}

func hasImageExtension(s string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(s)))
}

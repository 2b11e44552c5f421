package view

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
)

// imageExtensions are the extensions of the image files that browsers show.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg"}

// imageAddress returns the address of the image that a value of an image column names, or "" if the value names none. A relative
// path is a file below files, the path under which the files beside the dataset are served; empty: they are not served.
func imageAddress(files, value string) string {
	switch {
	case strings.HasPrefix(value, "https://") && IsWebAddress(value): // browsers block http images as mixed content
		return value
	case files != "" && IsImagePath(value):
		return files + (&url.URL{Path: value}).EscapedPath()
	}
	return ""
}

// IsImagePath reports whether s is the relative path of an image file, without hidden folders.
func IsImagePath(s string) bool {
	return fs.ValidPath(s) && !strings.HasPrefix(s, ".") && !strings.Contains(s, "/.") && hasImageExtension(s)
}

// isImageFile reports whether a value is the URL or the relative path of an image file.
func isImageFile(s string) bool {
	u, err := url.Parse(s)
	return err == nil && IsWebAddress(s) && hasImageExtension(u.Path) || IsImagePath(s)
}

func hasImageExtension(s string) bool {
	return slices.Contains(imageExtensions, strings.ToLower(path.Ext(s)))
}

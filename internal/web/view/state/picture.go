package state

import (
	"cmp"
	"strconv"

	"herbarium/internal/herb"
	"herbarium/internal/query"
	"herbarium/internal/web/view/format"
)

// Parameters of pictures of charts.
const (
	ParamTitle      = "_title"       // the title of the picture, instead of the sentence
	ParamTheme      = "_theme"       // its colors: "light", "dark", or "auto" for those of the reader
	ParamImageWidth = "_image_width" // its width in pixels
)

// Limits of pictures of charts.
const (
	MaxPictureTitle = 200 // characters
	PictureWidth    = 1040
	minPictureWidth = 320
	maxPictureWidth = 2560
)

// The themes of pictures. The default one has light colors.
const (
	ThemeLight = "light"
	ThemeDark  = "dark"
	ThemeAuto  = "auto"
)

// Picture is how a chart looks as a file of its own.
type Picture struct {
	Title     string // empty: the sentence of the chart
	Theme     string // empty: light
	FileWidth int    // 0: PictureWidth
}

// WidthOr returns the width of the picture.
func (p Picture) WidthOr() int { return cmp.Or(p.FileWidth, PictureWidth) }

// IsDark reports whether the picture has dark colors in every theme of the reader.
func (p Picture) IsDark() bool { return p.Theme == ThemeDark }

// IsAuto reports whether the picture has the colors of the theme of the reader.
func (p Picture) IsAuto() bool { return p.Theme == ThemeAuto }

// set sets the part that a parameter describes. It returns false for other parameters. A title that
// is too long is cut; other invalid values have no effect on pages.
func (p *Picture) set(param query.Param) bool {
	switch param.Name {
	case ParamTitle:
		p.Title = cutTitle(param.Value)
	case ParamTheme:
		p.Theme = ""
		if param.Value == ThemeLight || param.Value == ThemeDark || param.Value == ThemeAuto {
			p.Theme = param.Value
		}
	case ParamImageWidth:
		p.FileWidth = ParseUpTo(param.Value, maxPictureWidth)
		if p.FileWidth < minPictureWidth || p.FileWidth == PictureWidth {
			p.FileWidth = 0
		}
	default:
		return false
	}
	return true
}

// cutTitle returns a title on one line, without characters that change the direction of other text,
// and at most as long as titles may be. Titles that were cut are not cut again.
func cutTitle(title string) string { return herb.Clip(format.PlainText(title), MaxPictureTitle) }

// params adds the parameters of the picture.
func (p Picture) params(ps query.Params) query.Params {
	width := ""
	if p.FileWidth > 0 {
		width = strconv.Itoa(p.FileWidth)
	}
	return ps.WithValue(ParamTitle, p.Title).WithValue(ParamTheme, p.Theme).WithValue(ParamImageWidth, width)
}

// CheckPicture returns an error if a parameter of a picture in a query string is invalid: pages
// ignore it, addresses of pictures do not.
func CheckPicture(q query.String) error {
	if theme := q.Get(ParamTheme); theme != "" && theme != ThemeLight && theme != ThemeDark && theme != ThemeAuto {
		return herb.Invalidf("%s is %q; it must be %s, %s or %s", ParamTheme, herb.Clip(theme, MaxChipText), ThemeLight,
			ThemeDark, ThemeAuto)
	}
	if width := q.Get(ParamImageWidth); width != "" && ParseUpTo(width, maxPictureWidth) < minPictureWidth {
		return herb.Invalidf("%s is %q; it must be a whole number of pixels from %d to %d", ParamImageWidth,
			herb.Clip(width, MaxChipText), minPictureWidth, maxPictureWidth)
	}
	return nil
}

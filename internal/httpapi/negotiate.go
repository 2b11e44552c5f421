package httpapi

import (
	"strings"

	"herbarium/internal/export"
)

// wantsExport reports whether Accept requests a file, and in which format. As files may be large, the format must be
// named explicitly and preferred: JSON with a higher weight, or named with the same weight, takes precedence.
// Unsupported types are ignored.
func wantsExport(headers []string) (format export.Format, ok bool) {
	const unsaid = -1
	type offer struct {
		format export.Format
		weight int
	}
	offers := [...]offer{{export.CSV, 0}, {export.NDJSON, 0}}
	json, application, all := unsaid, unsaid, unsaid
	for _, header := range headers {
		for header != "" {
			var item string
			item, header, _ = strings.Cut(header, ",")
			name, params, _ := strings.Cut(item, ";")
			switch name = strings.Trim(name, " \t"); {
			case strings.EqualFold(name, contentJSON):
				json = rangeWeight(params)
			case strings.EqualFold(name, "application/*"):
				application = rangeWeight(params)
			case name == "*/*":
				all = rangeWeight(params)
			default:
				for i := range offers {
					if strings.EqualFold(name, offers[i].format.MediaType()) {
						offers[i].weight = rangeWeight(params)
					}
				}
			}
		}
	}
	least := json // minimum weight of a file format
	switch {
	case json != unsaid:
		least++
	case application != unsaid:
		least = application
	default:
		least = all
	}
	best := max(least-1, 0)
	for _, o := range offers {
		if o.weight > best {
			format, best, ok = o.format, o.weight, true
		}
	}
	return format, ok
}

// rangeWeight returns the weight of a media range. Other parameters are ignored: there is only one CSV variant.
func rangeWeight(params string) int {
	weight := 1000
	for params != "" {
		var param string
		param, params, _ = strings.Cut(params, ";")
		if name, _, _ := strings.Cut(param, "="); strings.EqualFold(strings.Trim(name, " \t"), "q") {
			weight = parseWeight(param)
		}
	}
	return weight
}

package httpapi

import (
	"strings"

	"herbarium/internal/export"
)

// wantsExport reads Accept: whether the client asks for the whole result as a file, and for which. A file may be large,
// so one is sent only where its type is named, and not as good as any other: JSON that weighs more, or the same and is
// named too, comes before it. What is not on offer asks for nothing.
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
	least := json // what a file must weigh to be sent
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

// rangeWeight finds the weight among the parameters of a media range. The others do not matter: there is one CSV here.
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

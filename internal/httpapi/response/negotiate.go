package response

import (
	"iter"
	"strconv"
	"strings"

	"herbarium/internal/export"
)

// weightedItems yields the items of an Accept or Accept-Encoding header in lower case, each with
// its weight in thousandths: 1000 if none is given, 0 if it is invalid. Other parameters are
// ignored.
func weightedItems(headers []string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, header := range headers {
			for item := range strings.SplitSeq(header, ",") {
				name, params, _ := strings.Cut(item, ";")
				weight := 1000
				for params != "" {
					var param string
					param, params, _ = strings.Cut(params, ";")
					key, value, _ := strings.Cut(strings.Trim(param, " \t"), "=")
					if strings.EqualFold(key, "q") {
						weight = parseWeight(value)
					}
				}
				if !yield(strings.ToLower(strings.Trim(name, " \t")), weight) {
					return
				}
			}
		}
	}
}

func parseWeight(s string) int {
	q, err := strconv.ParseFloat(s, 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}

// WantsExport reports whether Accept requests a file, and in which format. As files may be large,
// the format must be named explicitly and preferred: JSON with a higher weight, or named with the
// same weight, takes precedence. Unsupported types are ignored.
func WantsExport(headers []string) (format export.Format, ok bool) {
	if len(headers) == 0 {
		return "", false
	}
	weights := make(map[string]int, 8)
	for name, weight := range weightedItems(headers) {
		weights[name] = weight
	}
	best, isNamed := weights[ContentJSON]
	if !isNamed {
		any, ok := weights["application/*"]
		if !ok {
			any = weights["*/*"]
		}
		best = max(any-1, 0) // a file with the same weight takes precedence
	}
	for _, f := range export.Formats() {
		if weight := weights[f.MediaType()]; weight > best {
			format, best, ok = f, weight, true
		}
	}
	return format, ok
}

// unweighted is the weight of a coding that a header does not contain.
const unweighted = -1

// chooseCoding returns the coding with the highest weight in Accept-Encoding, and zstd before gzip
// if the weights are equal. Identity is always acceptable unless excluded, but never preferred by
// default.
func chooseCoding(headers []string) coding {
	weights, rest := [codings]int{unweighted, unweighted, unweighted}, 0
	for name, weight := range weightedItems(headers) {
		switch name {
		case "zstd":
			weights[codingZstd] = weight
		case "gzip", "x-gzip":
			weights[codingGzip] = weight
		case "identity":
			weights[Identity] = weight
		case "*":
			rest = weight
		}
	}
	best := Identity
	for c := range weights {
		if weights[c] == unweighted {
			weights[c] = rest
		}
		if weights[c] > 0 && weights[c] >= weights[best] {
			best = coding(c)
		}
	}
	return best
}

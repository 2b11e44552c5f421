package datasets

import (
	"strings"

	"herbarium/internal/web/view/state"
)

// LicenseAddress returns the web address of a license: the one that the publisher gives, or that of
// a license with a well-known name; empty: none is known.
func LicenseAddress(l *state.Link) string {
	if l.Href != "" {
		return l.Href
	}
	name := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(l.Label)))
	const creative = "https://creativecommons.org/"
	return map[string]string{
		"cc0-1.0": creative + "publicdomain/zero/1.0/", "cc0": creative + "publicdomain/zero/1.0/",
		"cc-by-4.0": creative + "licenses/by/4.0/", "cc-by-sa-4.0": creative + "licenses/by-sa/4.0/",
		"cc-by-nc-4.0": creative + "licenses/by-nc/4.0/",
		"cc-by-nd-4.0": creative + "licenses/by-nd/4.0/", "cc-by-nc-sa-4.0": creative + "licenses/by-nc-sa/4.0/",
		"cc-by-3.0":      creative + "licenses/by/3.0/",
		"cc-by-sa-3.0":   creative + "licenses/by-sa/3.0/",
		"odc-by-1.0":     "https://opendatacommons.org/licenses/by/1-0/",
		"odc-by":         "https://opendatacommons.org/licenses/by/1-0/",
		"odbl-1.0":       "https://opendatacommons.org/licenses/odbl/1-0/",
		"odc-odbl":       "https://opendatacommons.org/licenses/odbl/1-0/",
		"pddl-1.0":       "https://opendatacommons.org/licenses/pddl/1-0/",
		"odc-pddl-1.0":   "https://opendatacommons.org/licenses/pddl/1-0/",
		"ogl-uk-3.0":     "https://www.nationalarchives.gov.uk/doc/open-government-licence/version/3/",
		"dl-de-by-2.0":   "https://www.govdata.de/dl-de/by-2-0",
		"dl-de-zero-2.0": "https://www.govdata.de/dl-de/zero-2-0",
		"etalab-2.0":     "https://www.etalab.gouv.fr/licence-ouverte-open-licence/",
		"mit":            "https://spdx.org/licenses/MIT", "apache-2.0": "https://spdx.org/licenses/Apache-2.0",
	}[name]
}

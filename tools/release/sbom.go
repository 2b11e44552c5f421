package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// component is a component of a CycloneDX document.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// writeSBOM writes a bill of materials: the modules that the linker recorded in the binaries.
func (r *release) writeSBOM(binaries []binary) {
	found := map[string]component{}
	add := func(path, version string) {
		ref := fmt.Sprintf("pkg:golang/%s@%s", strings.ToLower(path), version)
		found[ref] = component{"library", ref, path, version, ref}
	}
	for _, b := range binaries {
		info, err := buildinfo.ReadFile(b.path)
		if r.fail(err); r.err != nil {
			return
		}
		add("stdlib", strings.TrimPrefix(info.GoVersion, "go"))
		for _, m := range info.Deps {
			m = cmp.Or(m.Replace, m)
			add(m.Path, m.Version)
		}
	}
	refs := slices.Sorted(maps.Keys(found))
	var components []component
	for _, ref := range refs {
		components = append(components, found[ref])
	}
	program := "pkg:generic/herbarium@" + r.Version
	d := map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
		"serialNumber": "urn:uuid:" + contentUUID(fmt.Sprint(r.Version, r.Commit, refs)),
		"metadata": map[string]any{
			"timestamp": r.Date.Format(time.RFC3339),
			"component": component{"application", program, "herbarium", r.Version, program},
		},
		"components":   components,
		"dependencies": []any{map[string]any{"ref": program, "dependsOn": refs}},
	}
	content, err := json.MarshalIndent(d, "", "  ")
	r.fail(err)
	r.write(".cdx.json", append(content, '\n'))
}

// contentUUID returns a UUID of version 8 (RFC 9562) that depends only on a text.
func contentUUID(text string) string {
	b := sha256.Sum256([]byte(text))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

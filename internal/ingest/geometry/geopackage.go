package geometry

// AppendGeoPackage appends the well-known text of a geometry of a GeoPackage: a header with its
// extent, and WKB. ok is false, and b unchanged, if data is anything else.
func AppendGeoPackage(b, data []byte) (wkt []byte, ok bool) {
	if len(data) < 8 || data[0] != 'G' || data[1] != 'P' || data[2] != 0 {
		return b, false
	}
	const isExtended = 1 << 5
	extents := []int{0, 32, 48, 48, 64} // bytes by the kind of extent
	flags := data[3]
	kind := int(flags >> 1 & 7)
	if kind >= len(extents) || flags&isExtended != 0 || len(data) < 8+extents[kind] {
		return b, false
	}
	return AppendWKT(b, data[8+extents[kind]:])
}

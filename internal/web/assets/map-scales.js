// Colors and sizes of the points of the map by the values of rows. The server decides the scales.

// numberOf returns the number that a text represents in the notation of a file; NaN if it is none. It is the only parser of numbers
// in the scripts: the server describes the notation.
export function numberOf(text, { decimal = ".", group = "", affix = "" }) {
  const separator = { "": "", " ": /\s/g, "'": /['’]/g }[group] ?? group;
  const plain = text.replaceAll(affix, "").replaceAll(separator, "").replace(decimal, ".").trim();
  return plain === "" ? NaN : Number(plain);
}

// classOf returns the position of a value among the keys of the legend. The last one is that of missing values, and the one before
// it that of other categories.
function classOf(text, { values = [], breaks, boolean, notation }) {
  const missing = text === "" || notation.missing?.includes(text);
  if (breaks) {
    const n = missing ? NaN : numberOf(text, notation);
    return Number.isNaN(n) ? breaks.length : Math.max(0, breaks.findLastIndex((least) => n >= least));
  }
  if (missing) return values.length + 1;
  const at = boolean ? values.findIndex((v) => v.toLowerCase() === text.toLowerCase()) : values.indexOf(text);
  return at < 0 ? values.length : at;
}

// radiusOf returns the radius of a point in pixels: its area shows the number. A point without a number is the smallest.
function radiusOf(text, { low, high, least, greatest, notation }) {
  const share = Math.min(Math.max((numberOf(text, notation) - low) / (high - low), 0), 1) || 0;
  return Math.sqrt(least ** 2 + share * (greatest ** 2 - least ** 2));
}

// encode sets the classes and the radii of points, and the order in which they are drawn: points without a color of their own
// first, then large points, which do not cover small ones.
export function encode(points, { color, size }) {
  const text = (row, field) => (row[field] == null ? "" : String(row[field]));
  points.classes = color ? points.rows.map((row) => classOf(text(row, color.field), color)) : null;
  points.radii = size ? points.rows.map((row) => radiusOf(text(row, size.field), size)) : null;
  points.order = [...points.rows.keys()];
  const own = color?.values?.length ?? Infinity;
  const isOwn = (i) => (points.classes?.[i] < own ? 1 : 0);
  if (color || size) points.order.sort((a, b) => isOwn(a) - isOwn(b) || (points.radii ? points.radii[b] - points.radii[a] : 0));
}

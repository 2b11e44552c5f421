// Writes what maps show behind their points into the folder of the assets: the land at two scales, as SVG in tenths of a degree
// with y downward, and the names of places. `make coastline` runs it.
import {readFileSync, writeFileSync} from "node:fs";
import {geoEquirectangular, geoPath} from "d3-geo";
import {optimize} from "svgo";
import {feature} from "topojson-client";

const read = (name) => JSON.parse(readFileSync(new URL(import.meta.resolve(name))));
const assets = new URL("../../internal/web/assets/", import.meta.url);

// draw writes the land. Its coordinates are whole numbers, so many per tenth of a degree.
function draw(file, scale, perUnit) {
  const world = read(`world-atlas/land-${scale}.json`);
  const projection = geoEquirectangular().scale(1800 * perUnit / Math.PI).translate([0, 0]).precision(0);
  const land = geoPath(projection).digits(0)(feature(world, world.objects.land));
  const smaller = perUnit === 1 ? "" : ` transform="scale(${1 / perUnit})"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800"><path id="land"${smaller} d="${land}"/></svg>`;
  const plugins = [{name: "convertPathData", params: {applyTransforms: false}}];
  writeFileSync(new URL(file, assets), optimize(svg, {floatPrecision: 0, plugins}).data + "\n");
}

draw("land.svg", "110m", 1);
draw("land50.svg", "50m", 2);

// The size of the label of a place in pixels: text of 11 pixels with a dot before it, and a gap.
const labelWidth = ([name]) => 6.5 * name.length + 10;
const labelHeight = 16;

// scaleApart returns the number of pixels per tenth of a degree from which on two labels do not overlap. Maps begin at 180° west or
// at Greenwich, so distances are across the antimeridian, too.
function scaleApart(a, b) {
  const dx = ((b[1] - a[1] + 5400) % 3600) - 1800;
  return Math.min(labelWidth(dx > 0 ? a : b) / Math.abs(dx), labelHeight / Math.abs(b[2] - a[2]));
}

// withScales adds to each place the scale from which on its label overlaps none of the places before it. It is one number, so that
// labels stay when a map is moved or enlarged.
function withScales(rows) {
  const labels = [];
  for (const row of rows) {
    const scales = labels.map((other) => [scaleApart(other, row), other[3]]).filter(([apart, shown]) => apart > shown);
    labels.push([...row, Math.ceil(1000 * Math.max(0, ...scales.map(([apart]) => apart))) / 1000]);
  }
  return labels;
}

// The names of places, the most important first, with their positions in tenths of a degree and their scales.
const places = readFileSync(new URL("../node_modules/globe.gl/example/datasets/ne_110m_populated_places_simple.geojson", import.meta.url));
const rows = JSON.parse(places).features.map(({properties: p}) => p)
  .sort((a, b) => a.scalerank - b.scalerank || b.pop_max - a.pop_max)
  .map((p) => [p.name, Math.round(100 * p.longitude) / 10, Math.round(-100 * p.latitude) / 10]);
writeFileSync(new URL("places.js", assets), `// Drawn by tools/coastline: names, positions and scales of places, the most important first.\nexport const places = [\n${withScales(rows).map((row) => JSON.stringify(row)).join(",\n")}\n];\n`);

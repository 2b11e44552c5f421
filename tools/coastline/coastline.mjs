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

// The names of places, the most important first, with their positions in tenths of a degree.
const places = readFileSync(new URL("./node_modules/globe.gl/example/datasets/ne_110m_populated_places_simple.geojson", import.meta.url));
const rows = JSON.parse(places).features.map(({properties: p}) => p)
  .sort((a, b) => a.scalerank - b.scalerank || b.pop_max - a.pop_max)
  .map((p) => JSON.stringify([p.name, Math.round(100 * p.longitude) / 10, Math.round(-100 * p.latitude) / 10]));
writeFileSync(new URL("places.js", assets), `// Drawn by tools/coastline: names and positions of places, the most important first.\nexport const places = [\n${rows.join(",\n")}\n];\n`);

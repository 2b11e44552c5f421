// Prints the land that maps show behind their points, as SVG in tenths of a degree with y downward. `make coastline` runs it.
import {readFileSync} from "node:fs";
import {geoEquirectangular, geoPath} from "d3-geo";
import {optimize} from "svgo";
import {feature} from "topojson-client";

const world = JSON.parse(readFileSync(new URL(import.meta.resolve("world-atlas/land-110m.json"))));
const projection = geoEquirectangular().scale(1800 / Math.PI).translate([0, 0]).precision(0);
const land = geoPath(projection).digits(0)(feature(world, world.objects.land));
const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1800 -900 3600 1800"><path id="land" d="${land}"/></svg>`;
console.log(optimize(svg, {floatPrecision: 0, plugins: ["convertPathData"]}).data);

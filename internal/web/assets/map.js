// The map: points or cells on a canvas above the coast, which is the SVG of the server. A unit of the view is a tenth of a
// degree, and y increases to the south. On the screen, a unit from west to east is narrower, so that shapes in the middle of the
// view are true.

import { $, fill, listing, visit } from "./app.js";
import { listen } from "./map-input.js";
import { cellAt, clearCanvas, colorsOf, countInView, drawBar, drawBox, drawCells, drawPlaces, drawPoints, nearest, rangesOf } from "./map-draw.js";
import { encode, numberOf } from "./map-scales.js";
import { places } from "./places.js";

const world = { x: -1800, y: -900, w: 3600, h: 1800 }; // x is 0 for longitudes from 0 to 360
let map, canvas, svg, tip;
let view = world; // the part that is shown
let fitted = world; // the part that the server has chosen for the rows
let atFit = true; // it is shown
let loaded = null; // address of the data
let points = null; // { xs, ys, rows, classes, radii, order }; null: cells are shown
let scales = ""; // of the points, as the server describes them
let cells = null; // { data, columns, rows, bounds, levels }
let box = null; // area that is being selected, in pixels
let asked = ""; // bounds in the URL
let request, timer, settling;

// enhance starts the script on a new page, or adopts the changes of the page.
function enhance() {
  map = document.getElementById("map");
  if (!map) return;
  [canvas, svg, tip] = ["canvas", "svg.world", ".map-tip"].map((s) => map.querySelector(s));
  world.x = Number(map.dataset.west);
  const source = map.dataset.points || map.dataset.grid;
  const bounds = new URLSearchParams(location.search).get("_bounds") ?? "";
  if (source !== loaded || bounds !== asked) { // another listing, or another entry of the history
    const [x, y, w, h] = map.dataset.view.split(" ").map(Number);
    view = { x, y, w, h };
    atFit = !("zoomed" in map.dataset);
    fitted = atFit ? covering(view) : null;
    view = fitted ?? view;
    asked = bounds;
  }
  if (source !== loaded) {
    loaded = source;
    points = cells = null;
    if (map.dataset.points) loadPoints(source);
  }
  if (points && scales !== map.dataset.scales) encodePoints();
  show(view, false);
}

// encodePoints sets the colors and sizes of the points.
function encodePoints() {
  scales = map.dataset.scales;
  encode(points, JSON.parse(scales || "{}"));
}

// covering returns the part to show instead of one that would leave much of a high screen blank: as high as the world, and
// where most rows are.
function covering(part) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const k = Math.min(width / (part.w * stretchOf(part)), height / part.h);
  if (k * world.h >= 0.45 * height) return part;
  const [x] = map.dataset.center.split(" ").map(Number);
  const w = (width * world.h) / height;
  const left = Math.min(Math.max(x - w / 2, world.x), world.x + world.w - w);
  return { x: left, y: world.y, w, h: world.h };
}

// stretchOf returns the width of a unit relative to its height, which is that of degrees in the middle of a part.
function stretchOf(part) {
  const most = Number(map.dataset.maxParallel);
  return Math.cos((Math.min(Math.max((part.y + part.h / 2) / 10, -most), most) * Math.PI) / 180);
}

// place returns where a part is on the canvas: centered.
function place(part = view) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const stretch = stretchOf(part);
  const ky = Math.min(width / (part.w * stretch), height / part.h);
  const kx = ky * stretch;
  return { kx, ky, stretch, dx: width / 2 - (part.x + part.w / 2) * kx, dy: height / 2 - (part.y + part.h / 2) * ky, width, height };
}

// show changes the part that is shown. What the user has chosen goes to the URL.
function show(next, chosen = true) {
  const w = Math.min(Math.max(next.w, 10 * Number(map.dataset.leastSide)), world.w / stretchOf(next));
  const h = (next.h * w) / next.w;
  const [x, y] = [next.x + next.w / 2, next.y + next.h / 2]; // the middle
  const limit = (v, size, from, length) => (size > length ? from + length / 2 : Math.min(Math.max(v, from + size / 2), from + length - size / 2));
  const shown = { x: limit(x, 0, world.x, world.w) - w / 2, y: y - h / 2, w, h };
  view = { ...shown, y: limit(y, canvas.clientHeight / place(shown).ky, world.y, world.h) - h / 2 }; // no more than the world
  draw();
  if (chosen) {
    clearTimeout(settling);
    settling = setTimeout(settle, 250);
  }
  if (map.dataset.points) return;
  clearTimeout(timer);
  timer = setTimeout(loadCells, cells ? 150 : 0);
}

// degrees returns positions on the map in degrees, in as many digits as a pixel needs.
function degrees(positions) {
  const digits = Math.min(6, Math.max(1, Math.ceil(Math.log10(place().ky * 10))));
  return positions.map((v) => Number((v / 10).toFixed(digits)));
}

// visibleBounds returns the degrees at the edges of the canvas.
function visibleBounds() {
  const { kx, ky, dx, dy, width, height } = place();
  return degrees([-dx / kx, (dy - height) / ky, (width - dx) / kx, dy / ky]);
}

// settle shows the page of the part that the user has chosen, so that the URL and all links have it.
function settle() {
  const query = new URLSearchParams(location.search);
  asked = atFit ? "" : visibleBounds().join();
  if (asked) query.set("_bounds", asked);
  else query.delete("_bounds");
  if (String(query) !== location.search.slice(1)) visit(`${location.pathname}${query.size ? `?${query}` : ""}`, { typing: true });
}

// zoom enlarges the view around a pixel.
function zoom(factor, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const { kx, ky, dx, dy } = place();
  reach({ ...view, w: view.w / factor, h: view.h / factor }, ky * factor, (x - dx) / kx, (y - dy) / ky, x, y);
}

function move(pixelsX, pixelsY) {
  const { kx, ky, dx, dy, width, height } = place();
  reach(view, ky, (width / 2 - dx) / kx, (height / 2 - dy) / ky, width / 2 + pixelsX, height / 2 + pixelsY);
}

// reach shows a part at a scale and moves it such that a point is at a pixel. The width of degrees depends on the latitude that
// this gives, so it takes a few steps.
function reach(next, scale, pointX, pointY, x, y) {
  for (let i = 0; i < 6; i++) {
    const at = place(next);
    const size = at.ky / scale;
    const [w, h] = [next.w * size, next.h * size];
    const [middleX, middleY] = [pointX + (at.width / 2 - x) / (scale * at.stretch), pointY + (at.height / 2 - y) / scale];
    next = { x: middleX - w / 2, y: middleY - h / 2, w, h };
  }
  atFit = false;
  show(next);
}

function draw() {
  if (!canvas.clientWidth || !canvas.clientHeight) return; // it is not visible
  const g = clearCanvas(canvas);
  const colors = colorsOf(canvas);
  const at = place();
  svg.setAttribute("viewBox", `${-at.dx / at.ky} ${-at.dy / at.ky} ${at.width / at.ky} ${at.height / at.ky}`); // the canvas, also in print
  svg.querySelector(".plane").setAttribute("transform", `scale(${at.stretch} 1)`);
  const [coarse, fine] = map.dataset.coast.split(" ");
  for (const land of svg.querySelectorAll(".land")) {
    const coast = (at.width / at.kx < 10 * Number(map.dataset.fineBelow) ? fine : coarse) + "#land";
    if (land.getAttribute("href") !== coast) land.setAttribute("href", coast);
  }
  map.classList.toggle("drawn", Boolean(points || cells));
  if (points) drawPoints(g, at, points, colors, Number(map.dataset.open), showLegend());
  else if (cells) drawCells(g, at, cells, colors, opacities());
  if (points || cells) {
    map.dataset.names = drawPlaces(g, at, places, world.x, colors, `500 ${map.dataset.labelSize}px ${getComputedStyle(map).fontFamily}`);
    describeView(at);
  }
  if (box) drawBox(g, box, colors);
  drawScale(at, g, colors);
}

// drawScale shows the line of a round length, of at most 140 pixels. It is true in the middle of the map.
function drawScale(at, g, colors) {
  const bar = map.querySelector(".map-scale");
  const unit = Number(map.dataset.unitMeters) / at.ky; // meters of a pixel
  const most = 140;
  const lengths = JSON.parse(map.dataset.lengths);
  const [meters, label] = lengths.findLast(([length]) => length <= most * unit) ?? lengths[0];
  bar.hidden = false;
  bar.style.width = `${meters / unit}px`;
  bar.textContent = label;
  if (map.style.colorScheme) drawBar(g, at, meters / unit, bar.textContent, colors); // paper scales the canvas
}

// showLegend shows what the points mean, and returns the colors of their classes.
function showLegend() {
  const legend = map.querySelector(".legend");
  const template = map.querySelector("template.point-keys");
  const items = template ? [...template.content.children] : [keys().at(-1)];
  const classes = new Set(points.classes);
  const unused = items.filter((item) => item.matches(".key-color")).filter((item, i) => !classes.has(i) && item.querySelector(".s0, .missing"));
  legend.replaceChildren(...items.map((item) => item.cloneNode(true)));
  const colors = [...legend.querySelectorAll(".key-color circle")].map((circle) => getComputedStyle(circle).fill);
  legend.replaceChildren(...items.filter((item) => !unused.includes(item)).map((item) => item.cloneNode(true)));
  return colors;
}

const plural = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// keys returns the items of the legend: one for each level of cells, and one for points.
const keys = () => [...map.querySelector("template.keys").content.children];

// opacities returns how opaque the levels of cells are.
const opacities = () => keys().flatMap((key) => [...key.querySelectorAll("rect")].map((rect) => Number(rect.getAttribute("opacity"))));

// describeView says how many rows are in view, and what the colors mean.
function describeView(at) {
  const count = points ? countInView(at, points) : cells.inside;
  const total = Number(map.dataset.total);
  const note = map.querySelector(".in-view");
  const text = `<strong>${plural(count, "point", "points")}</strong> in view${count === total ? "" : ` <span class="mut">of ${plural(total, "row", "rows")}</span>`}`;
  if (note.innerHTML !== text) note.innerHTML = text;
  const link = map.querySelector(".outside");
  const outside = Number(map.dataset.mapped) - count;
  if (link) link.hidden = !(outside > 0);
  if (outside > 0) link.textContent = `${plural(outside, "row", "rows")} outside`;
  if (points) return;
  const items = keys().map((key) => key.cloneNode(true));
  map.querySelector(".legend").replaceChildren(...rangesOf(cells).flatMap(([least, most], i) => {
    items[i].querySelector("span").textContent = least.toLocaleString("en") + (most > least ? ` – ${most.toLocaleString("en")}` : "");
    return most ? [items[i]] : [];
  }));
}

// load requests data. It returns null if the request fails or is not needed any more; the map of the server then stays.
async function load(url, read) {
  request?.abort();
  request = new AbortController();
  const source = loaded;
  try {
    const response = await fetch(url, { signal: request.signal });
    const data = response.ok ? await response[read]() : null;
    return source === loaded ? data : null;
  } catch {
    return null;
  }
}

async function loadPoints(url) {
  const text = await load(url, "text");
  if (text === null) return;
  const rows = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const numbers = JSON.parse(map.dataset.numbers);
  const positions = rows.map((row) => positionOf(row, numbers));
  points = { xs: positions.map(([x]) => 10 * x), ys: positions.map(([, y]) => -10 * y), rows };
  encodePoints();
  draw();
}

// positionOf returns the longitude and the latitude of a row: the numbers of two fields, or the first two in one field.
function positionOf(row, [ofX, ofY]) {
  const { x, y, notation } = map.dataset;
  if (x !== y) return [numberOf(row[x], ofX), numberOf(row[y], ofY)];
  const [first, second] = (row[x].match(/[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/gi) ?? []).map(Number);
  return notation === "lat,lon" ? [second, first] : [first, second];
}

// loadCells requests the numbers of rows in cells of a few pixels.
async function loadCells() {
  const { width, height } = place();
  const count = (pixels) => Math.min(256, Math.max(1, Math.round(pixels / 5)));
  const cut = { _bounds: visibleBounds().join(), _columns: String(count(width)), _rows: String(count(height)) };
  const found = await load(`${loaded}&${new URLSearchParams(cut)}`, "json");
  if (!found) return;
  cells = { data: found.data, ...found.meta };
  draw();
  showCall(cut);
}

// showCall shows the part of the map in the API call below it.
function showCall(cut) {
  const code = $("#call code");
  const url = new URL(code.dataset.url);
  for (const [name, value] of Object.entries(cut)) {
    url.searchParams.set(name, value);
    code.textContent = code.textContent.replace(new RegExp(`(?<=[?&]${name}=)[^&]*`), value);
  }
  code.dataset.url = url.href;
}

// select filters by the area between two pixels.
function select({ x0, y0, x1, y1 }) {
  const { kx, ky, dx, dy } = place();
  const ends = [(Math.min(x0, x1) - dx) / kx, (Math.max(x0, x1) - dx) / kx, (dy - Math.max(y0, y1)) / ky, (dy - Math.min(y0, y1)) / ky];
  if (map.dataset.range) return visit(fill(map.dataset.range, ...degrees(ends).map(String)));
  const within = (v, most) => Math.min(Math.max(v, -most), most);
  const [west, east, south, north] = degrees(ends);
  visit(fill(map.dataset.box, [within(west, 180), within(south, 90), within(east, 180), within(north, 90)].join()));
}

// openAt opens the row at a pixel, or enlarges the cell there.
function openAt(x, y) {
  if (!points) {
    if (cells && cellAt(place(), cells, x, y)) zoom(4, x, y);
    return;
  }
  const i = nearest(place(), points, x, y);
  if (i < 0) return;
  const query = listing();
  const length = Number(map.dataset.pageLength);
  if (i >= length) query.set("page", String(Math.floor(i / length) + 1));
  query.set("_record", String((i % length) + 1));
  visit(`${location.pathname}?${query}`);
}

// describe shows what is at a pixel: the name of the row and two of its values, or the number of rows of a cell.
function describe(x, y) {
  const lines = [];
  if (points) {
    const row = points.rows[nearest(place(), points, x, y)];
    const [title, ...details] = JSON.parse(map.dataset.tip);
    if (row) lines.push(`${title.heading} ${row[title.name]}`.trim(), ...details.filter((d) => row[d.name]).map((d) => `${d.heading} ${row[d.name]}`));
  } else if (cells) {
    const cell = cellAt(place(), cells, x, y);
    if (cell) lines.push(plural(cell[2], "row", "rows"));
  }
  canvas.classList.toggle("over", lines.length > 0);
  tip.hidden = lines.length === 0;
  tip.replaceChildren(...lines.map((text, i) => {
    const line = document.createElement(i ? "div" : "b");
    line.textContent = text;
    return line;
  }));
  tip.style.left = `${Math.max(4, Math.min(x + 14, canvas.clientWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${Math.max(y - tip.offsetHeight - 8, 4)}px`;
}

const redraw = () => map && draw();
// A printed map has the colors of the light theme.
for (const [type, scheme] of [["beforeprint", "light"], ["afterprint", ""]]) {
  addEventListener(type, () => {
    if (map) map.style.colorScheme = scheme;
    redraw();
  });
}
addEventListener("resize", () => map && show(view, false));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
listen({
  canvas: () => canvas, move, zoom, openAt, describe, select,
  fit,
  outline: (area) => {
    box = area;
    draw();
  },
});

// fit shows the part that the server chooses. The page of another part does not know it.
function fit() {
  if (fitted) {
    atFit = true;
    return show(fitted);
  }
  const query = new URLSearchParams(location.search);
  query.delete("_bounds");
  visit(`${location.pathname}${query.size ? `?${query}` : ""}`);
}

document.addEventListener("shown", enhance);
enhance();

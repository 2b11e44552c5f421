// Tips of charts and highlighted series. A tip has the values of all series at the pointer or the focus, with their colors. The
// series under the pointer is highlighted in the table beside the chart, and the series of a row of the table in the chart.

import { $, $$, showTip } from "./app.js";

const partOf = (event) => event.target.closest?.(".plot .hits > *");
const rowOf = (event) => event.target.closest?.(".groups tr[data-series]");

// linesOf returns the lines of an attribute that the server has written, each with a line feed at its end.
const linesOf = (text = "") => text.split("\n").slice(0, -1);

// keysOf returns the names and the colors of the series of a chart; none if it has only one.
function keysOf(part) {
  const { names, classes = "" } = part.parentNode.dataset;
  return { names: linesOf(names), classes: classes.split(" ") };
}

// valuesOf returns the values at a part with the positions of their series: of its own series with the others of the group, or of all;
// -1 if the chart has only one.
function valuesOf(part) {
  const { names } = keysOf(part), { g, s } = part.dataset;
  if (s === undefined) return linesOf(part.dataset.values).map((text, i) => ({ series: i in names ? i : -1, text }));
  const parts = part.closest(".plot").matches(":has(.cell)") ? [part] : $$(`[data-g="${g}"]`, part.parentNode);
  return parts.map((p) => ({ series: Number(p.dataset.s), text: linesOf(p.dataset.values)[0] })).sort((a, b) => a.series - b.series);
}

const create = (tag, ...content) => {
  const element = document.createElement(tag);
  element.append(...content);
  return element;
};

// tipOf returns the content of the tip of a part. hot is the position of the series that it emphasizes.
function tipOf(part, hot, action) {
  const { names, classes } = keysOf(part);
  const table = create("table", create("caption", part.dataset.group));
  for (const { series, text } of valuesOf(part)) {
    const row = table.insertRow();
    if (series >= 0) row.append(create("th", names[series]));
    row.append(create("td", text));
    row.className = `${classes[series] ?? ""} ${series === hot ? "hot" : ""}`;
  }
  const tip = create("div", table);
  if (part.matches("a")) tip.append(create("p", `${action}: show only these rows`));
  return tip;
}

// pointsOf returns the points of the path of a line.
const paths = new WeakMap();
function pointsOf(path) {
  const d = path.getAttribute("d");
  if (paths.get(path)?.d !== d) paths.set(path, { d, points: d.split(/[ML]/).slice(1).map((p) => p.split(" ").map(Number)) });
  return paths.get(path).points;
}

// pointIn returns the point of a line within a part of the chart; undefined if the line has none there.
function pointIn(path, { x, width }) {
  const points = pointsOf(path);
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] < x + width / 2) low = middle + 1;
    else high = middle;
  }
  const distance = ([at]) => Math.abs(at - x - width / 2);
  const nearest = [points[low - 1], points[low]].filter(Boolean).sort((a, b) => distance(a) - distance(b))[0];
  return nearest && distance(nearest) <= width / 2 + 0.1 ? nearest : undefined;
}

const curvesOf = (plot) => $$(".curve:not(.dot)", plot);
const seriesOf = (shape, { classes }) => classes.findIndex((name) => name && shape.classList.contains(name));

// seriesAt returns the position of the series that is nearest to a place on the screen; -1 if there is none.
function seriesAt(part, x, y) {
  const keys = keysOf(part), plot = part.closest(".plot");
  if (part.dataset.s !== undefined) return Number(part.dataset.s);
  if (!keys.names.length) return -1;
  const at = new DOMPoint(x, y).matrixTransform(plot.getScreenCTM().inverse()), box = part.getBBox();
  const bar = $$(".box", plot).find((shape) => shape.isPointInFill(at));
  if (bar) return seriesOf(bar, keys);
  const near = curvesOf(plot).map((path) => ({ path, point: pointIn(path, box) })).filter(({ point }) => point)
    .sort((a, b) => Math.abs(a.point[1] - at.y) - Math.abs(b.point[1] - at.y))[0];
  return near ? seriesOf(near.path, keys) : -1;
}

// markPoints marks the points of lines within a part, or removes the marks.
function markPoints(part) {
  for (const mark of $$(".plot .mark")) mark.remove();
  const plot = part?.closest(".plot"), box = part?.getBBox();
  for (const curve of plot ? curvesOf(plot) : []) {
    const point = pointIn(curve, box);
    if (!point) continue;
    const mark = curve.cloneNode();
    mark.setAttribute("d", `M${point.join(" ")}h.01`);
    mark.classList.add("dot", "mark");
    mark.classList.remove("hot");
    curve.parentNode.append(mark);
  }
}

// highlight emphasizes a series in charts and tables; -1: none. With dim, charts show the others faintly.
let highlighted = -1;
function highlight(series, dim = false) {
  if (series === highlighted) return;
  highlighted = series;
  for (const plot of $$("#answer .plot")) {
    const { classes } = keysOf($(".hits > *", plot) ?? plot);
    for (const shape of $$(".curve, .box, .name", plot)) shape.classList.toggle("hot", series >= 0 && shape.classList.contains(classes[series]));
    if ($(".cell", plot)) for (const part of $$(".hits > *", plot)) part.classList.toggle("hot", dim && part.dataset.s === String(series));
  }
  $(".answer .fit")?.toggleAttribute("data-dim", dim && series >= 0);
  for (const row of $$(".groups tr[data-series]")) row.classList.toggle("hot", row.dataset.series === String(series));
}

let shown = null; // part with a tip, and the series that it emphasizes

function showPart(part, hot, rect, action) {
  if (shown?.part !== part || shown.hot !== hot) {
    if (shown?.part !== part) markPoints(part);
    highlight(part.closest("#answer") ? hot : -1);
    shown = { part, hot, tip: tipOf(part, hot, action) };
  }
  showTip(shown.tip, rect);
}

export function hidePart() {
  shown = null;
  markPoints(null);
  highlight(-1);
  showTip("");
}

document.addEventListener("pointermove", (event) => {
  const part = partOf(event), { clientX: x, clientY: y } = event;
  if (part) showPart(part, seriesAt(part, x, y), { left: x + 14, right: x + 14, top: y - 6, bottom: y + 12 }, "Click");
});
document.addEventListener("pointerout", (event) => partOf(event) && hidePart());
document.addEventListener("focusin", (event) => {
  const part = partOf(event);
  if (!part?.matches(":focus-visible")) return;
  const r = part.getBoundingClientRect();
  showPart(part, Number(part.dataset.s ?? -1), { left: r.left + r.width / 2, right: r.right, top: r.top, bottom: r.top + Math.min(r.height, 30) }, "Enter");
});
document.addEventListener("focusout", (event) => partOf(event) && hidePart());

for (const [enter, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
  document.addEventListener(enter, (event) => rowOf(event) && highlight(Number(rowOf(event).dataset.series), true));
  document.addEventListener(leave, (event) => rowOf(event) && highlight(-1));
}

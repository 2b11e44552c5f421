// Distributions in the header of the grid and in the forms of ranges. They are requested after the rows, for the columns in
// view and for open forms, and stay until new ones arrive. The pointer shows a range and its count; a click filters by it; a drag
// selects several.

import { $, $$, grid, on, onShow, swap } from "./dom.js";
import { fill, listing } from "./address.js";
import { patchNode } from "./morph.js";
import { fetchPart, visit } from "./nav.js";
import { showTip } from "./popup.js";

// missingDistributions returns the distributions in view, or nearly so, that are neither loaded nor requested.
function missingDistributions() {
  const table = grid() && $("table", grid()); // no rows, no table
  if (!table) return [];
  const area = grid().getBoundingClientRect();
  const near = (picture) => {
    const r = picture.getBoundingClientRect();
    return r.width && r.right > area.left - area.width / 2 && r.left < area.right + area.width / 2;
  };
  return $$("#grid thead .distribution:not([data-loaded], [data-requested])").filter(near).slice(0, Number(table.dataset.maxDistributions));
}

async function loadDistributions() {
  const path = swap()?.dataset.distributions;
  const missing = path ? missingDistributions() : [];
  if (!missing.length) return;
  for (const c of missing) c.dataset.requested = "";
  grid().dataset.loading = "";
  const query = listing();
  for (const c of missing) query.append("_columns", c.closest("th").dataset.field);
  const part = await fetchPart(path + "?" + query);
  if (!part) return; // failed, or another page is shown
  for (const next of $$(".distribution", part)) {
    const picture = document.getElementById(next.id);
    if (picture) showPicture(picture, next);
  }
  if (missingDistributions().length) loadDistributions();
  else delete grid().dataset.loading;
}

// showPicture changes a distribution into a requested one.
function showPicture(picture, next) {
  next.id = picture.id;
  next.dataset.loaded = "";
  for (const title of $$("title", next)) { // the tip replaces it
    title.parentNode.dataset.label = title.textContent;
    title.remove();
  }
  for (const a of $$("a", next)) a.setAttribute("tabindex", "-1"); // the grid is one Tab stop; forms have inputs
  patchNode(picture, next);
}

// loadBrushes requests the distributions of open forms.
function loadBrushes() {
  const path = swap()?.dataset.distributions;
  if (!path) return;
  for (const picture of $$("details[open] > .filter > .distribution:not([data-loaded], [data-requested])")) {
    picture.dataset.requested = "";
    const query = listing();
    query.append("_columns", picture.parentNode.dataset.filter);
    fetchPart(path + "?" + query).then((part) => part && showPicture(picture, $(".distribution", part)));
  }
}

document.addEventListener("toggle", loadBrushes, true);
onShow(loadBrushes);

let scrollFrame = 0;
document.addEventListener("scroll", (event) => {
  if (event.target !== grid() || scrollFrame) return;
  scrollFrame = requestAnimationFrame(() => {
    scrollFrame = 0;
    loadDistributions();
  });
}, { capture: true, passive: true });

// barAt returns the position of the bar at a horizontal position; bars without rows have no height to point at.
function barAt(histogram, x) {
  const r = histogram.getBoundingClientRect();
  const bars = $$(".bar", histogram);
  return Math.max(0, Math.min(bars.length - 1, Math.floor((x - r.left) / r.width * bars.length)));
}

let brush = null; // { histogram, from, to }

function markBars(from, to) {
  $$(".bar", brush.histogram).forEach((bar, i) => bar.classList.toggle("sel", i >= Math.min(from, to) && i <= Math.max(from, to)));
}

on("pointerdown", ".distribution .hist:not(.fixed)", (event, histogram) => {
  if (event.button) return;
  event.preventDefault(); // no text selection
  const at = barAt(histogram, event.clientX);
  brush = { histogram, from: at, to: at };
  if (event.pointerType !== "touch") histogram.setPointerCapture(event.pointerId);
});

on("pointermove", ".distribution .hist", (event, histogram) => {
  const bars = $$(".bar", histogram);
  const at = barAt(histogram, event.clientX);
  const label = bars[at].dataset.label; // of a picture that does not filter
  if (label) return showTip(label, histogram.getBoundingClientRect());
  if (brush?.histogram === histogram) {
    brush.to = at;
    if (brush.from !== at) markBars(brush.from, at);
  }
  const [first, last] = brush ? [Math.min(brush.from, at), Math.max(brush.from, at)] : [at, at];
  const rows = bars.slice(first, last + 1).reduce((sum, bar) => sum + Number(bar.dataset.count), 0);
  const range = `${bars[first].dataset.from} – ${bars[last].dataset.to}`;
  showTip(`${range}: ${rows.toLocaleString("en")} ${rows === 1 ? "row" : "rows"}`, histogram.getBoundingClientRect());
});

on("pointerup", ".distribution .hist", (event, histogram) => {
  if (brush?.histogram !== histogram) return;
  const bars = $$(".bar", histogram);
  const first = Math.min(brush.from, brush.to), last = Math.max(brush.from, brush.to);
  brush = null;
  showTip("");
  visit(fill(bars[last].closest("[data-range]").dataset.range, bars[first].dataset.from, bars[last].dataset.to));
});

document.addEventListener("pointercancel", () => (brush = null));
document.addEventListener("pointerout", (event) => !brush && event.target.closest?.(".distribution .hist, #grid .proportion") && showTip(""));
on("pointerover", "#grid .proportion", (event, p) => showTip(p.ariaLabel, p.getBoundingClientRect()));

onShow(loadDistributions);

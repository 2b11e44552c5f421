// Widths of columns: dragging the edge of a header, a double click on it, and Alt with the arrow keys.

import { $, $$, grid, on } from "./dom.js";
import { listingHere, show, withWidth } from "./address.js";

const widthStep = 16, edge = 6; // pixels

const colOf = (th) => $$("col", grid())[th.cellIndex];

// setColumnWidth changes the width of a column on the screen. The other ones stay, except the one that takes the rest.
function setColumnWidth(th, pixels) {
  const table = th.closest("table"), col = colOf(th);
  const { minWidth, maxWidth } = table.dataset;
  const before = th.offsetWidth, after = Math.round(Math.max(minWidth, Math.min(pixels, maxWidth)));
  if (!col.hasAttribute("width")) { // it took the rest
    table.classList.remove("stretches");
    for (const other of $$("th[data-field]", table)) colOf(other).setAttribute("width", other.offsetWidth);
    table.setAttribute("width", table.offsetWidth);
  }
  col.setAttribute("width", after);
  table.setAttribute("width", Number(table.getAttribute("width")) + after - before);
}

// saveWidth shows the page with the width of a column in its URL: cells have as much text as fits.
function saveWidth(th, options) {
  show(withWidth(listingHere(), th.dataset.field, th.offsetWidth), options);
}

const atEdge = (event, th) => event.clientX > th.getBoundingClientRect().right - edge;
let resized = null; // { th, from: pointer position, width }

on("pointerdown", "#grid thead th[data-field]", (event, th) => {
  if (event.button || event.target.closest("details[open] .popover") || !atEdge(event, th)) return;
  event.preventDefault();
  event.stopPropagation(); // neither moves the column nor sorts by it
  th.setPointerCapture(event.pointerId);
  th.classList.add("resized");
  resized = { th, from: event.clientX, width: th.offsetWidth, moved: false };
}, true);

addEventListener("pointermove", (event) => {
  if (!resized) return;
  resized.moved ||= Math.abs(event.clientX - resized.from) > 2;
  if (resized.moved) setColumnWidth(resized.th, resized.width + event.clientX - resized.from);
});

for (const type of ["pointerup", "pointercancel"]) {
  addEventListener(type, () => {
    const { th, moved } = resized ?? {};
    resized = null;
    th?.classList.remove("resized");
    if (moved) saveWidth(th);
  });
}

on("click", "#grid thead th[data-field]", (event, th) => {
  if (event.detail && atEdge(event, th) && !event.target.closest(".popover")) event.preventDefault(); // no link below the edge
}, true);

// A double click fits the column to what it shows.
on("dblclick", "#grid thead th[data-field]", (event, th) => {
  if (!atEdge(event, th)) return;
  const head = $(".col-head", th);
  setColumnWidth(th, 0); // the narrowest one
  const cells = $$("tbody tr", grid()).map((row) => row.cells[th.cellIndex].scrollWidth);
  const name = $(".col-name", th).scrollWidth + head.offsetWidth - $(".col-name", th).offsetWidth + 20;
  setColumnWidth(th, Math.min(600, Math.max(name, ...cells) + 1));
  saveWidth(th);
});

let saveTimer;
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -widthStep, ArrowRight: widthStep }[event.key];
  if (!event.altKey || !step || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const cell = event.target.closest?.("#grid th, #grid td");
  const th = cell && cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
  if (!th?.dataset.field || event.target.closest(".popover")) return;
  event.preventDefault(); // else it goes back in history
  setColumnWidth(th, th.offsetWidth + step);
  clearTimeout(saveTimer);
  saveTimer = setTimeout(() => saveWidth(th, { typing: true }), 200);
});

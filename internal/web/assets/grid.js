// The grid by keyboard: one Tab stop, arrow keys inside. Cells have a roving tabindex; links and menus within the grid are
// reached through their cell.

import { $, $$, grid, on, onShow } from "./dom.js";
import { visit } from "./nav.js";

const rows = () => $$("tr", grid() ?? document.createElement("table"));
const cellOf = (element) => element?.closest?.("#grid th, #grid td");

// rowsPerScreen returns the number of rows that fit between the header and the bottom of the grid.
function rowsPerScreen() {
  const row = $("tbody tr", grid());
  return Math.max(1, Math.floor((grid().clientHeight - $("thead", grid()).offsetHeight) / row.offsetHeight) - 1);
}

// focusCell moves the Tab stop and the focus to a cell, and scrolls it out from under the sticky header and columns.
export function focusCell(cell) {
  if (!cell) return;
  setStop(cell);
  cell.focus({ preventScroll: true });
  if (cell.closest("tbody")) revealRow(cell.parentElement);
  if (isPinned(cell)) return; // always in view
  const area = grid(), box = area.getBoundingClientRect(), at = cell.getBoundingClientRect();
  const left = pinnedEnd(cell);
  if (at.left < left) area.scrollLeft -= left - at.left;
  else if (at.right > box.left + area.clientWidth) area.scrollLeft += Math.min(at.right - box.left - area.clientWidth, at.left - left);
}

// isCards reports whether rows are cards, as on phones, which are no grid.
export const isCards = () => getComputedStyle($("thead", grid())).display === "none";

// setStop makes a cell the Tab stop of the grid.
function setStop(cell) {
  for (const other of $$("tr > [tabindex='0']", grid())) other.tabIndex = -1;
  cell.tabIndex = 0;
  stopAt = [cell.parentElement.rowIndex, cell.cellIndex];
}

let stopAt = [1, 1]; // row and column of the Tab stop

// focusRows moves the focus to the cell of the rows that was focused last. It returns false if there are no rows.
export function focusRows() {
  const area = grid();
  const cell = area && ($("tbody [tabindex='0']", area) ?? $("tbody td", area));
  focusCell(cell);
  return Boolean(cell);
}

// revealRow scrolls a row out from under the header, or up from below the grid.
export function revealRow(row) {
  const area = grid(), box = area.getBoundingClientRect(), at = row.getBoundingClientRect();
  const top = box.top + $("thead", area).offsetHeight;
  if (at.top < top) area.scrollTop -= top - at.top;
  else if (at.bottom > box.top + area.clientHeight) area.scrollTop += at.bottom - box.top - area.clientHeight;
}

// The row numbers and the first column stay in view.
const isPinned = (cell) => cell.cellIndex < 2;
const pinnedEnd = (cell) => cell.parentElement.cells[1].getBoundingClientRect().right;

function moveTo(row, column) {
  const all = rows();
  const cells = all[Math.max(0, Math.min(row, all.length - 1))]?.cells;
  focusCell(cells?.[Math.max(0, Math.min(column, cells.length - 1))]);
}

document.addEventListener("keydown", (event) => {
  const cell = cellOf(event.target);
  if (!cell || event.target.closest(".popover, input") || event.altKey || event.metaKey || event.isComposing) return;
  const all = rows(), row = all.indexOf(cell.parentElement), column = cell.cellIndex;
  const ends = event.ctrlKey;
  const keys = {
    ArrowUp: () => moveTo(row - 1, column),
    ArrowDown: () => moveTo(row + 1, column),
    ArrowLeft: () => moveTo(row, column - 1),
    ArrowRight: () => moveTo(row, column + 1),
    Home: () => moveTo(ends ? 1 : row, 0),
    End: () => moveTo(ends ? all.length - 1 : row, cell.parentElement.cells.length - 1),
    PageUp: () => row <= 1 ? turnPage("prev", column) : moveTo(Math.max(1, row - rowsPerScreen()), column),
    PageDown: () => row === all.length - 1 ? turnPage("next", column) : moveTo(row + rowsPerScreen(), column),
    Enter: () => openCell(cell),
  };
  if (ends && !["Home", "End"].includes(event.key)) return;
  if (!keys[event.key] || event.shiftKey) return;
  event.preventDefault();
  keys[event.key]();
});

// turnPage goes on with the next row, the first one of the next page, or with the last one of the page before.
async function turnPage(rel, column) {
  const link = $(`.pages a[rel=${rel}]`);
  if (!link) return;
  await visit(link.href);
  moveTo(rel === "next" ? 1 : rows().length - 1, column);
}

// openCell opens the record of a cell, or the menu of a column.
function openCell(cell) {
  if (cell.closest("tbody")) return visit($("th a", cell.parentElement).href);
  const menu = $("details", cell);
  if (!menu) return;
  menu.open = true;
  $("a, button, input", menu.lastElementChild)?.focus();
}

on("focusin", "#grid th, #grid td", (event, cell) => event.target === cell && cell.tabIndex !== 0 && setStop(cell));

let searched = null; // for which matches have been scrolled into view

onShow(({ detail }) => {
  const area = grid();
  if (!area) return;
  if (detail?.top !== undefined) area.scrollTop = detail.top; // other rows begin at the top
  const table = $("table", area);
  if (!table) return;
  area.removeAttribute("tabindex"); // its cells can be focused instead
  if (isCards()) { // links in the order of the page
    table.removeAttribute("role");
    for (const e of $$("[tabindex]", table)) e.removeAttribute("tabindex");
    return;
  }
  table.setAttribute("role", "grid");
  for (const e of $$(":is(a, button, summary, input):not([tabindex])", area)) if (!e.closest(".popover")) e.tabIndex = -1;
  for (const cell of $$("tr > :not([tabindex])", area)) cell.tabIndex = -1;
  const stops = $$("tr > [tabindex='0']", area);
  for (const extra of stops.slice(1)) extra.tabIndex = -1;
  if (!stops.length) (table.rows[stopAt[0]]?.cells[stopAt[1]] ?? $("tbody td", area) ?? $("th", area))?.setAttribute("tabindex", "0");
  if (detail?.top === 0) beginAtTop();
  const now = new URLSearchParams(location.search).get("search");
  if (now !== searched) showMatch();
  searched = now;
});

// beginAtTop moves the Tab stop to the first of other rows, in the same column, and the focus with it, unless it is in view.
function beginAtTop() {
  const area = grid(), stop = $("tbody [tabindex='0']", area);
  if (!stop || stop.getBoundingClientRect().bottom <= area.getBoundingClientRect().bottom) return;
  const first = $("tbody tr", area).cells[stop.cellIndex];
  if (stop === document.activeElement) focusCell(first);
  else setStop(first);
}

// showMatch scrolls the column of the first match into view if no match is.
function showMatch() {
  const area = grid(), box = area.getBoundingClientRect();
  const marks = $$("tbody mark", area);
  const seen = (m) => {
    const r = m.getBoundingClientRect();
    return r.left >= box.left && r.right <= box.left + area.clientWidth;
  };
  if (!marks.length || marks.some(seen)) return;
  const cell = cellOf(marks[0]);
  area.scrollLeft += cell.getBoundingClientRect().left - pinnedEnd(cell);
}

// The first columns stay in view once the grid is scrolled to the side.
document.addEventListener("scroll", ({ target }) => {
  if (target === grid()) target.classList.toggle("scrolled", target.scrollLeft > 0);
}, { capture: true, passive: true });
onShow(() => grid()?.classList.toggle("scrolled", grid().scrollLeft > 0));

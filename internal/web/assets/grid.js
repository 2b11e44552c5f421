// The grid by keyboard: one Tab stop, arrow keys inside. Cells have a roving tabindex; links and menus within the grid are
// reached through their cell.

import { $, $$, grid, on, onShow } from "./dom.js";
import { visit } from "./nav.js";
import { currentWalk, moveBy, numberOf, rowAt, rowsInWindow } from "./position.js";
import { bringRow, onRows } from "./rows.js";

const cellOf = (element) => element?.closest?.("#grid th, #grid td");

// rowsPerScreen returns the number of rows that fit between the header and the bottom of the grid.
export function rowsPerScreen() {
  const row = $("tbody tr", grid()) ?? $("tr", grid()); // the header if there are no rows
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
  stopAt = [numberOf(cell.parentElement), cell.cellIndex];
}

let stopAt = [1, 1]; // row in the listing and column of the Tab stop

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
  if (at.top < top) moveBy(at.top - top);
  else if (at.bottom > box.top + area.clientHeight) moveBy(at.bottom - box.top - area.clientHeight);
}

// The row numbers and the first column stay in view.
const isPinned = (cell) => cell.cellIndex < 2;
const pinnedEnd = (cell) => cell.parentElement.cells[1].getBoundingClientRect().right;

// rowsOfGrid returns the positions of the first and the last row that the keyboard reaches without leaving the page.
function rowsOfGrid() {
  if (currentWalk()) return [1, currentWalk().total];
  const all = $$("tbody tr", grid());
  return all.length ? [numberOf(all[0]), numberOf(all.at(-1))] : [1, 0];
}

let awaited = null; // the cell that is focused once its row is loaded

// moveTo focuses the cell in a row, 0 being the header, and loads the row if the page does not have it.
export function moveTo(number, column) {
  const [first, last] = rowsOfGrid();
  const to = number <= 0 || last < first ? 0 : Math.max(first, Math.min(number, last));
  const row = rowAt(to);
  awaited = row ? null : { number: to, column };
  if (row) return focusCell(row.cells[Math.max(0, Math.min(column, row.cells.length - 1))]);
  bringRow(to);
}

// Rows that are loaded get the Tab stop and the focus that they had before, or that the keyboard is on the way to.
onRows(({ detail: { stop } }) => {
  const area = grid();
  prepareCells(area);
  const lost = stop && !document.activeElement.matches("#grid *") ? stop : null;
  if (lost && !awaited) {
    left = lost;
    area.tabIndex = -1;
    area.focus({ preventScroll: true });
  }
  const to = awaited ?? (document.activeElement === area ? left : null);
  const cell = to && rowAt(to.number)?.cells[Math.min(to.column, rowAt(to.number).cells.length - 1)];
  if (!cell) return;
  setStop(cell);
  if (awaited) focusCell(cell);
  else cell.focus({ preventScroll: true });
  awaited = left = null;
});

let left = null; // the focused cell, whose row has left the table

// placeOf returns the position of the cell that the keyboard acts on.
function placeOf(target) {
  if (awaited) return awaited;
  if (target === grid()) return left;
  const cell = cellOf(target);
  return cell && { number: numberOf(cell.parentElement), column: cell.cellIndex };
}

document.addEventListener("keydown", (event) => {
  const cell = cellOf(event.target), at = placeOf(event.target);
  if (!at || !grid().contains(event.target) || event.target.closest(".popover, input") || event.altKey || event.metaKey || event.isComposing) return;
  const row = at.number, { column } = at, [first, last] = rowsOfGrid();
  const ends = event.ctrlKey;
  const keys = {
    ArrowUp: () => moveTo(row === first ? 0 : row - 1, column),
    ArrowDown: () => moveTo(row ? row + 1 : first, column),
    ArrowLeft: () => moveTo(row, column - 1),
    ArrowRight: () => moveTo(row, column + 1),
    Home: () => moveTo(ends ? first : row, 0),
    End: () => moveTo(ends ? last : row, rowAt(0).cells.length - 1),
    PageUp: () => row <= first ? turnPage("prev", column) : moveTo(Math.max(first, row - rowsPerScreen()), column),
    PageDown: () => row === last ? turnPage("next", column) : moveTo(Math.max(first, row + rowsPerScreen()), column),
    Enter: () => cell && openCell(cell),
  };
  if (ends && !["Home", "End"].includes(event.key)) return;
  if (!keys[event.key] || event.shiftKey) return;
  event.preventDefault();
  keys[event.key]();
});

// turnPage goes on with the next row, the first one of the next page, or with the last one of the page before, if a page shows its
// own rows only.
async function turnPage(rel, column) {
  const link = !currentWalk() && $(`.pages a[rel=${rel}]`);
  if (!link) return;
  await visit(link.href);
  const [first, last] = rowsOfGrid();
  moveTo(rel === "next" ? first : last, column);
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
  awaited = left = null;
  if (detail?.top !== undefined && !currentWalk()) area.scrollTop = detail.top; // other rows begin at the top
  const table = $("table", area);
  if (!table) return;
  area.removeAttribute("tabindex"); // its cells can be focused instead
  if (isCards()) { // links in the order of the page
    table.removeAttribute("role");
    for (const e of $$("[tabindex]", table)) e.removeAttribute("tabindex");
    return;
  }
  table.setAttribute("role", "grid");
  prepareCells(area);
  if (detail?.top === 0) beginAtTop();
  const now = new URLSearchParams(location.search).get("search");
  if (now !== searched) showMatch();
  searched = now;
});

// prepareCells makes one cell the Tab stop, and takes the others and the links within them out of the order of Tab.
function prepareCells(area) {
  if (isCards()) return;
  for (const e of $$(":is(a, button, summary, input):not([tabindex])", area)) if (!e.closest(".popover")) e.tabIndex = -1;
  for (const cell of $$("tr > :not([tabindex])", area)) cell.tabIndex = -1;
  const stops = $$("tr > [tabindex='0']", area);
  for (const extra of stops.slice(1)) extra.tabIndex = -1;
  if (!stops.length) (rowAt(stopAt[0])?.cells[stopAt[1]] ?? firstInWindow()?.cells[1] ?? $("th", area))?.setAttribute("tabindex", "0");
}

// firstInWindow returns the first row in the window.
const firstInWindow = () => currentWalk() && rowAt(rowsInWindow().first) || $("tbody tr", grid());

// beginAtTop moves the Tab stop to the first of other rows, in the same column, and the focus with it, unless it is in view.
function beginAtTop() {
  const area = grid(), stop = $("tbody [tabindex='0']", area);
  if (!stop) return;
  const at = stop.getBoundingClientRect(), box = area.getBoundingClientRect();
  if (at.top >= box.top && at.bottom <= box.bottom) return;
  const first = firstInWindow().cells[stop.cellIndex];
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

// Ranges of cells: Shift with the keys of the grid, Shift with a click, or the pointer select cells. The bar below shows their count,
// sum and mean, and Ctrl+C copies them for a spreadsheet.

import { $, $$, announce, copyText, currentWalk, fetchRows, grid, headerOf, moveBy, moveTo, numberOf, on, onRows, onShow, rawOf, rowAt, rowsPerScreen, shownValue } from "./app.js";
import { addDecimals, groupDigits, meanOf } from "./sums.js";

const dataCell = "#grid tbody td";
const mostRows = 1000; // of a range, whose rows stay in memory

/** @type {{ from: { number: number, column: number }, to: { number: number, column: number } }} */
let range = null; // positions of the cells at its ends
const kept = new Map(); // rows of the range by their position, also those that have left the table

const cellPosition = (cell) => ({ number: numberOf(cell.parentElement), column: cell.cellIndex });
const sorted = (a, b) => a < b ? [a, b] : [b, a];

// bounds returns the first and the last row and column of the range.
function bounds() {
  const [top, bottom] = sorted(range.from.number, range.to.number), [left, right] = sorted(range.from.column, range.to.column);
  return { top, bottom, left, right };
}

function markCells() {
  for (const cell of $$("td.chosen", grid())) unmarkCell(cell);
  if (!range) return;
  const { top, bottom, left, right } = bounds();
  for (const number of kept.keys()) if (number < top || number > bottom) kept.delete(number);
  for (let number = top; number <= bottom; number++) {
    const row = rowAt(number);
    if (row) kept.set(number, row);
    for (const cell of row ? [...row.cells].slice(left, right + 1) : []) {
      cell.classList.add("chosen");
      cell.setAttribute("aria-selected", "true");
    }
  }
}

function unmarkCell(cell) {
  cell.classList.remove("chosen");
  cell.removeAttribute("aria-selected");
}

function clearRange() {
  if (!range) return;
  range = null;
  kept.clear();
  for (const cell of $$("td.chosen", grid())) unmarkCell(cell);
  showSums();
}

// selectTo selects the cells between two of them. A range has a limited number of rows.
function selectTo(from, to) {
  const rows = Math.max(-mostRows + 1, Math.min(to.number - from.number, mostRows - 1));
  range = { from, to: { number: from.number + rows, column: to.column } };
  markCells();
  showSums();
  keepRows();
  if (from.number + rows !== to.number) announce(`A selection has at most ${mostRows.toLocaleString("en")} rows`);
}

// missingRow returns the first row of the range that has not been loaded.
function missingRow() {
  const { top, bottom } = bounds();
  for (let number = top; number <= bottom; number++) if (!kept.has(number)) return number;
}

// keepRows loads the rows of the range that the table does not have.
let keeping = false;

async function keepRows() {
  if (keeping || !currentWalk()) return;
  keeping = true;
  try {
    for (let number = missingRow(); number; number = range && missingRow()) {
      const mine = range, part = await fetchRows(Math.ceil(number / currentWalk().perPage));
      if (!part || !part.querySelector(`#row-${number}`)) break; // the rows have changed
      if (mine && range) for (const row of $$("tbody tr", part)) if (!kept.has(numberOf(row))) kept.set(numberOf(row), row);
      if (range) markCells();
    }
  } catch { // the sums stay incomplete, and say so
  }
  keeping = false;
  showSums();
}

// cellsOf returns the cells of the range by row; those of rows that are not loaded yet are missing.
function cellsOf() {
  const { left, right } = bounds();
  return [...kept].sort(([a], [b]) => a - b).map(([, row]) => [...row.cells].slice(left, right + 1).filter((cell) => cell.matches("td")));
}

// asField writes a value for a spreadsheet.
const asField = (value) => /[\t\n\r"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

// copyRange copies the selected cells as lines of values separated by tabs.
async function copyRange() {
  const rows = cellsOf();
  const lines = await Promise.all(rows.map(async (cells) => (await Promise.all(cells.map(rawOf))).map(asField).join("\t")));
  copyText(lines.join("\n"), `${rows.flat().length} cells`);
}

// decimalOf returns the number of a cell as a plain decimal; empty: it has none. The server decides which values are numbers, and
// writes those that are not plain decimals beside them.
const decimalOf = (cell) => headerOf(cell).dataset.number === undefined ? "" : cell.dataset.decimal ?? shownValue(cell);

let announceTimer;

// showSums shows the count of the selected values, and the sum and the mean of the numbers among them.
function showSums() {
  const bar = $("#sums");
  if (!bar) return;
  clearTimeout(announceTimer);
  const cells = range ? cellsOf().flat().filter((cell) => !cell.classList.contains("e")) : [];
  bar.hidden = !range || bounds().top === bounds().bottom && bounds().left === bounds().right;
  bar.parentElement.classList.toggle("summed", !bar.hidden);
  if (bar.hidden) return bar.replaceChildren();
  const numbers = cells.map(decimalOf).filter(Boolean), isComplete = missingRow() === undefined;
  const items = [["Count", groupDigits(String(cells.length))]];
  if (numbers.length && numbers.length < cells.length) items.push(["Numbers", groupDigits(String(numbers.length))]);
  if (numbers.length && isComplete) {
    const sum = addDecimals(numbers);
    items.push(["Sum", groupDigits(sum)], ["Mean", groupDigits(meanOf(sum, numbers.length))]);
  }
  if (!isComplete) items.push(["", "…"]);
  bar.replaceChildren(...items.map(([name, value]) => {
    const item = document.createElement("span"), number = document.createElement("b");
    number.textContent = value;
    item.append(name ? name + " " : "", number);
    return item;
  }));
  announceTimer = setTimeout(() => announce(items.map((item) => item.join(" ")).join(", ")), 500);
}

// handleKey handles a key on a cell, and returns whether it did.
export function handleKey(event) {
  const cell = event.target;
  if (event.altKey) return false;
  const command = event.ctrlKey || event.metaKey, rows = $$("tbody tr", grid());
  const [first, last] = currentWalk() ? [1, currentWalk().total] : [numberOf(rows[0]), numberOf(rows.at(-1))];
  const end = range?.to ?? cellPosition(cell);
  const steps = {
    ArrowUp: [command ? first - end.number : -1, 0], ArrowDown: [command ? last - end.number : 1, 0],
    ArrowLeft: [0, command ? -Infinity : -1], ArrowRight: [0, command ? Infinity : 1],
    PageUp: [-rowsPerScreen(), 0], PageDown: [rowsPerScreen(), 0],
    Home: [command ? first - end.number : 0, -Infinity], End: [command ? last - end.number : 0, Infinity],
  };
  const step = steps[event.key];
  if (event.shiftKey && step) {
    const columns = cell.parentElement.cells.length - 1;
    const to = { number: Math.max(first, Math.min(end.number + step[0], last)), column: Math.max(1, Math.min(end.column + step[1], columns)) };
    selectTo(range?.from ?? cellPosition(cell), to);
    moveTo(range.to.number, range.to.column);
    return true;
  }
  if (command && event.key === "c" && range) {
    copyRange();
    return true;
  }
  if (event.key === "Escape" && range) event.preventDefault(); // it closes nothing else
  if (step || event.key === "Escape") clearRange();
  return false;
}

// The pointer selects cells from the one where it was pressed; within that, it selects text.
let drag = null; // { from: position, x, y, selects }

// The click that ends a selection opens no record.
function swallowClick() {
  const swallow = (click) => { click.preventDefault(); click.stopPropagation(); };
  addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", swallow, { capture: true })); // there may be none
}

document.addEventListener("pointerdown", (event) => {
  const cell = event.button ? null : event.target.closest?.(dataCell);
  if (event.shiftKey && cell && event.pointerType !== "touch") {
    event.preventDefault();
    const active = document.activeElement;
    selectTo(range?.from ?? (active.matches(dataCell) ? cellPosition(active) : cellPosition(cell)), cellPosition(cell));
    addEventListener("pointerup", swallowClick, { once: true });
    return;
  }
  if (!event.target.closest?.("#popup, .popup")) clearRange();
  if (cell && event.pointerType !== "touch" && !event.target.closest("a, img, .popover")) drag = { from: cellPosition(cell), x: 0, y: 0, selects: false };
});
on("mousedown", dataCell, (event) => event.shiftKey && event.preventDefault()); // selects no text, and keeps the focus

addEventListener("pointermove", (event) => {
  if (!drag) return;
  drag.x = event.clientX;
  drag.y = event.clientY;
  selectUnderPointer();
});

function selectUnderPointer() {
  const box = grid().getBoundingClientRect(), head = $("thead th", grid()).getBoundingClientRect().bottom;
  const x = Math.max(box.left + 1, Math.min(drag.x, box.left + grid().clientWidth - 1)), y = Math.max(head + 1, Math.min(drag.y, box.top + grid().clientHeight - 1));
  const cell = document.elementFromPoint(x, y)?.closest(dataCell);
  if (!cell) return;
  const to = cellPosition(cell), { from } = drag;
  if (!drag.selects && to.number === from.number && to.column === from.column) return;
  if (!drag.selects) scrollWithPointer();
  drag.selects = true;
  getSelection().empty();
  grid().classList.add("selecting");
  if (range?.to.number !== to.number || range.to.column !== to.column) selectTo(from, to);
}

// scrollWithPointer scrolls while the pointer is above or below the rows.
function scrollWithPointer() {
  requestAnimationFrame(() => {
    if (!drag?.selects) return;
    const box = grid().getBoundingClientRect(), head = $("thead th", grid()).getBoundingClientRect().bottom;
    const beyond = drag.y < head ? drag.y - head : drag.y > box.bottom ? drag.y - box.bottom : 0;
    if (beyond) {
      moveBy(Math.max(-60, Math.min(beyond, 60)));
      selectUnderPointer();
    }
    scrollWithPointer();
  });
}

for (const type of ["pointerup", "pointercancel"]) {
  addEventListener(type, () => {
    const selected = drag?.selects, from = drag?.from;
    drag = null;
    grid()?.classList.remove("selecting");
    if (!selected) return;
    swallowClick();
    const cell = rowAt(from.number)?.cells[from.column];
    if (cell && document.activeElement !== cell) cell.focus({ preventScroll: true });
  });
}

onShow(clearRange);
onRows(() => {
  if (!range) return;
  markCells();
  showSums();
});

// Cells by keyboard: Space shows the whole value, Shift with the arrow keys selects a range, Ctrl+C copies it for a spreadsheet.

import { $, $$, grid, onShow } from "./dom.js";
import { copyText } from "./copy.js";
import { rawOf } from "./cellmenu.js";
import { focusCell } from "./grid.js";
import { place } from "./popup.js";

const dataCell = "#grid tbody td";
let anchor = null; // the cell at which the selected range begins

const selectedCells = () => $$("td.chosen", grid());

function clearRange() {
  anchor = null;
  for (const cell of selectedCells()) {
    cell.classList.remove("chosen");
    cell.removeAttribute("aria-selected");
  }
}

// selectTo selects the cells between the anchor and a cell.
function selectTo(cell) {
  const from = anchor ?? document.activeElement;
  clearRange();
  anchor = from;
  const [top, bottom] = [from, cell].map((c) => c.parentElement.sectionRowIndex).sort((a, b) => a - b);
  const [left, right] = [from, cell].map((c) => c.cellIndex).sort((a, b) => a - b);
  for (const row of [...$("tbody", grid()).rows].slice(top, bottom + 1)) {
    for (const chosen of [...row.cells].slice(left, right + 1)) {
      chosen.classList.add("chosen");
      chosen.setAttribute("aria-selected", "true");
    }
  }
}

// asField writes a value for a spreadsheet.
const asField = (value) => /[\t\n\r"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

// copyRange copies the selected cells as lines of values separated by tabs.
async function copyRange() {
  const rows = new Map();
  for (const cell of selectedCells()) rows.set(cell.parentElement, [...rows.get(cell.parentElement) ?? [], rawOf(cell)]);
  const lines = await Promise.all([...rows.values()].map(async (cells) => (await Promise.all(cells)).map(asField).join("\t")));
  copyText(lines.join("\n"), `${selectedCells().length} cells`);
}

const shade = document.createElement("div");
shade.className = "popup whole";
shade.setAttribute("popover", "auto");

// showWhole shows the whole value of a cell in its place.
async function showWhole(cell) {
  const value = await rawOf(cell);
  const text = Object.assign(document.createElement("p"), { textContent: value, dir: "auto" });
  const copy = Object.assign(document.createElement("button"), { type: "button", textContent: "Copy" });
  copy.addEventListener("click", () => copyText(value, "Value").then(() => closeWhole(cell)));
  shade.replaceChildren(text, copy);
  document.getElementById("main").append(shade);
  shade.style.minWidth = `${cell.offsetWidth}px`;
  shade.showPopover();
  const { left, top } = cell.getBoundingClientRect();
  place(shade, { left, bottom: top - 2, top });
  shade.onkeydown = (event) => {
    if (event.key !== " " && event.key !== "Escape" || (event.key === " " && event.target === copy)) return;
    event.preventDefault();
    event.stopPropagation();
    closeWhole(cell);
  };
  copy.focus({ preventScroll: true }); // a long text begins at its start
}

function closeWhole(cell) {
  shade.remove();
  focusCell(cell);
}

document.addEventListener("keydown", (event) => {
  const cell = event.target;
  if (!cell.matches?.(dataCell) || event.altKey) return;
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  const command = event.ctrlKey || event.metaKey;
  if (event.shiftKey && step && !command) {
    const next = $("tbody", grid()).rows[cell.parentElement.sectionRowIndex + step[0]]?.cells[cell.cellIndex + step[1]];
    if (next?.matches(dataCell)) {
      selectTo(next);
      focusCell(next);
    }
  } else if (command && event.key === "c" && anchor) copyRange();
  else if (event.key === " " && !command && !event.shiftKey) showWhole(cell);
  else {
    if (step || event.key === "Escape") {
      if (event.key === "Escape" && anchor) event.preventDefault(); // it closes nothing else
      clearRange();
    }
    return;
  }
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);
document.addEventListener("pointerdown", () => anchor && clearRange());
onShow(() => anchor && clearRange());

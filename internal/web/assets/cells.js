// Cells: Space shows the whole value. The script that selects ranges is loaded when the pointer or the focus is on a cell.

import { on } from "./dom.js";
import { copyText } from "./copy.js";
import { rawOf } from "./cellmenu.js";
import { focusCell } from "./grid.js";
import { place } from "./popup.js";

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

/** @type {Promise<any>} */
let loading = null;
let selection = null; // the module

const loadSelection = () => loading ??= import("./selection.js").then((module) => (selection = module), () => (loading = null));

for (const type of ["pointerover", "focusin"]) on(type, "#grid tbody td", loadSelection);

const movingKeys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"];

document.addEventListener("keydown", (event) => {
  const cell = event.target, hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
  if (!cell.matches?.("#grid tbody td")) return;
  if (event.key === " " && !hasModifier) showWhole(cell);
  else if (selection) {
    if (!selection.handleKey(event)) return;
  } else if (event.shiftKey && movingKeys.includes(event.key)) loadSelection().then(() => selection?.handleKey(event));
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

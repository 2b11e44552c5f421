// The menu of a cell: copy its value, filter by it, exclude it. A secondary click, the menu key, Shift+F10 or "m" opens it.

import { $, $$, grid, on } from "./dom.js";
import { listing, show } from "./address.js";
import { copyText, shownValue } from "./copy.js";
import { openMenu } from "./popup.js";

const bodyCell = "#grid tbody td";

// headerOf returns the header of the column of a cell, whose row may have left the table.
export const headerOf = (cell) => $("thead tr", grid()).cells[cell.cellIndex];

// rawOf returns the value of a cell as the dataset has it. Long values are not part of the page.
export async function rawOf(cell) {
  if (cell.dataset.clipped === undefined) return shownValue(cell);
  const { field } = headerOf(cell).dataset;
  const query = new URL($("#call code").dataset.url).searchParams;
  const number = cell.parentElement.cells[0].textContent.replace(/\D/g, "");
  for (const [name, value] of Object.entries({ page: number, per_page: 1 })) query.set(name, value);
  const response = await fetch(location.pathname + "/data?" + query, { headers: { Accept: "application/json" } });
  return (await response.json()).data[0][field];
}

// valuesOf returns the values of a cell: the elements of a list, or its only value; none if it is empty.
function valuesOf(cell) {
  if (cell.dataset.elements) return JSON.parse(cell.dataset.elements);
  const tags = $$(".tag", cell).map((tag) => tag.textContent);
  return tags.length ? tags : [shownValue(cell)].filter(Boolean);
}

const clipText = (text) => text.length > 40 ? text.slice(0, 39) + "…" : text;

function openFor(cell, rect = cell.getBoundingClientRect()) {
  const header = headerOf(cell);
  const filters = header.dataset.filters && JSON.parse(header.dataset.filters); // parameters by operator
  /** @type {import("./popup.js").MenuItem[]} */
  const items = [{ label: "Copy value", action: async () => copyText(await rawOf(cell), "Value") }];
  const offer = (label, op, value, add = "set") => items.push({ label, action: () => {
    const query = listing();
    query[add](filters[op], value);
    show(query);
  } });
  const values = valuesOf(cell);
  if (filters && !values.length) {
    offer("Show empty only", "empty", "true");
    offer("Exclude empty", "empty", "false");
  } else if (filters && cell.dataset.clipped === undefined) {
    for (const v of values) offer(`Filter by ${clipText(v)}`, "eq", v);
    for (const v of values) offer(`Exclude ${clipText(v)}`, "ne", v, "append"); // given several times: none of them
    if (filters.gte) offer(`At least ${clipText(values[0])}`, "gte", values[0]);
    if (filters.lte) offer(`At most ${clipText(values[0])}`, "lte", values[0]);
  }
  openMenu("Cell", items, rect, cell);
}

on("contextmenu", bodyCell, (event, cell) => {
  if (event.shiftKey || event.target.closest("a, img") || !getSelection().isCollapsed) return; // the menu of the browser
  event.preventDefault();
  const open = () => openFor(cell, event.clientX ? new DOMRect(event.clientX, event.clientY, 0, 0) : undefined);
  if (event.buttons) addEventListener("pointerup", () => setTimeout(open), { once: true }); // the release would close it again
  else open();
});

document.addEventListener("keydown", (event) => {
  const cell = event.target;
  if (!cell.matches?.(bodyCell) || event.altKey) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key === "c" && getSelection().isCollapsed) rawOf(cell).then((value) => copyText(value, "Value"));
  else if (!command && (event.key === "ContextMenu" || event.key === "m" || (event.key === "F10" && event.shiftKey))) openFor(cell);
  else return;
  event.preventDefault();
});

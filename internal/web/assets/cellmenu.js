// The menu of a cell: copy its value, filter by it, exclude it. A secondary click, the menu key, Shift+F10 or "m" opens it.

import { $, on } from "./dom.js";
import { listing, show, withFilter } from "./address.js";
import { copyText } from "./copy.js";
import { openMenu } from "./popup.js";

const bodyCell = "#grid tbody td";

// headerOf returns the header of the column of a cell.
const headerOf = (cell) => cell.closest("table").tHead.rows[0].cells[cell.cellIndex];

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

function shownValue(cell) {
  const source = $("a, img", cell);
  return cell.dataset.raw ?? source?.getAttribute("href") ?? source?.getAttribute("src") ?? cell.textContent;
}

const clipText = (text) => text.length > 40 ? text.slice(0, 39) + "…" : text;

function openFor(cell, rect = cell.getBoundingClientRect()) {
  const header = headerOf(cell);
  const { field, type } = header.dataset;
  const canFilter = $("a[href*='_facet=']", header);
  const value = shownValue(cell);
  const filter = (op, v = value) => ({ action: () => show(withFilter(listing(), field, op, v)) });
  /** @type {import("./popup.js").MenuItem[]} */
  const items = [{ label: "Copy value", action: async () => copyText(await rawOf(cell), "Value") }];
  if (canFilter && cell.dataset.clipped === undefined) {
    const values = type === "list" ? value.split(",") : [value];
    for (const v of values.slice(0, 8)) items.push({ label: v === "" ? "Show empty only" : `Filter by ${clipText(v)}`, ...filter("eq", v) });
    for (const v of values.slice(0, 8)) items.push({ label: v === "" ? "Exclude empty" : `Exclude ${clipText(v)}`, ...filter("ne", v) });
    if (["number", "date", "datetime"].includes(type) && value !== "") {
      items.push({ label: `At least ${clipText(value)}`, ...filter("gte") }, { label: `At most ${clipText(value)}`, ...filter("lte") });
    }
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

// Columns: several sort fields, the menu of a column, the menu of all columns, moving by drag, and statistics.

import { $, $$, on, onShow } from "./dom.js";
import { listing, listingHere, show, withWidth } from "./address.js";
import { copyText } from "./copy.js";
import { visit } from "./nav.js";
import { place } from "./popup.js";

// A click with Shift on the name of a column adds it to the order, reverses it, or removes it.
on("click", "#grid th[data-field] .col-name", (event, name) => {
  if (!event.shiftKey) return;
  event.preventDefault();
  getSelection().empty(); // Shift selects text
  const { addSort } = name.closest("th").dataset;
  if (addSort) visit(addSort);
}, true);

// The menu of a column also moves and hides it, copies its name, and shows the statistics behind its distribution.
document.addEventListener("toggle", ({ target }) => {
  if (!target.open || !target.matches(".col-menu")) return;
  if (!$(".stats", target)) {
    addActions(target);
    addStatistics(target);
  }
  place($(".popover", target), $("summary", target).getBoundingClientRect());
}, true);

function addActions(target) {
  const { field } = target.closest("th").dataset;
  const others = () => shownFields().filter((f) => f !== field);
  const move = (step) => showFields(others().toSpliced(Math.max(0, shownFields().indexOf(field) + step), 0, field));
  const add = (textContent, action) => {
    const button = create("button", { type: "button", textContent }), item = create("li");
    button.addEventListener("click", action);
    item.append(button);
    $(".fields", target).append(item);
  };
  add("Move left", () => move(-1));
  add("Move right", () => move(1));
  if (others().length) add("Hide", () => showFields(others()));
  if (listing().getAll("_width").some((width) => width.startsWith(field + ":"))) add("Default width", () => show(withWidth(listingHere(), field)));
  add("Copy name", () => copyText(field, "Name"));
}

function addStatistics(target) {
  const th = target.closest("th");
  const { total, empty, distinct, min, max } = $(".distribution", th).dataset;
  const stats = create("dl", { className: "stats" });
  const count = (n) => n && Number(n).toLocaleString("en");
  for (const [name, value] of [["Rows", count(total)], ["Empty", count(empty)], ["Distinct", count(distinct)], ["Min", min], ["Max", max]]) {
    if (value) stats.append(create("dt", { textContent: name }), create("dd", { textContent: value }));
  }
  const words = $(".distribution .words", th)?.cloneNode(true); // of the distribution, which the keyboard does not reach
  for (const a of $$("a", words ?? stats)) a.removeAttribute("tabindex");
  $(".popover", target).append(words ?? "", stats);
}

const create = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

// Dragging the name of a column moves the column.
let dragged = null; // { th, x, moved }

on("pointerdown", "#grid th[data-field] .col-name", (event, name) => {
  if (event.button || event.shiftKey || event.pointerType === "touch") return;
  dragged = { th: name.closest("th"), x: event.clientX, moved: false };
});

// targetOf returns the column under the pointer and whether the column is dropped before it.
function targetOf(x) {
  const headers = $$("#grid th[data-field]");
  const over = headers.find((th) => { const r = th.getBoundingClientRect(); return x >= r.left && x < r.right; });
  if (!over || over === dragged.th) return null;
  const r = over.getBoundingClientRect();
  return { over, before: x < r.left + r.width / 2 };
}

addEventListener("pointermove", (event) => {
  if (!dragged) return;
  if (!dragged.moved && Math.abs(event.clientX - dragged.x) < 8) return;
  dragged.moved = true;
  unmark();
  const target = targetOf(event.clientX);
  dragged.th.classList.add("dragged");
  target?.over.classList.add(target.before ? "drop-before" : "drop-after");
});

function unmark() {
  for (const th of $$("#grid th")) th.classList.remove("dragged", "drop-before", "drop-after");
}

addEventListener("pointerup", (event) => {
  const drag = dragged;
  if (!drag) return;
  const target = drag.moved && targetOf(event.clientX);
  dragged = null;
  unmark();
  if (!drag.moved) return;
  const swallow = (click) => { click.preventDefault(); click.stopPropagation(); };
  addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => removeEventListener("click", swallow, { capture: true })); // there may be none
  if (target) moveColumn(drag.th.dataset.field, target.over.dataset.field, target.before);
});

// A link does not start a drag of its own.
on("dragstart", "#grid th .col-name", (event) => event.preventDefault());

function moveColumn(field, other, before) {
  const fields = shownFields().filter((f) => f !== field);
  showFields(fields.toSpliced(fields.indexOf(other) + (before ? 0 : 1), 0, field));
}

let requested = null; // columns of the page that has been requested last; null: it is shown
onShow(() => (requested = null));

// The menu of all columns adds a column to those that the table shows, or removes it. What the menu lists has no influence: it may
// be the result of a search for names.
on("change", "#column-list input", (event, box) => {
  const others = shownFields().filter((f) => f !== box.value);
  if (!box.checked && others.length) showFields(others);
  else if (box.checked) showFields(others.toSpliced(positionOf(box, others), 0, box.value));
  else box.checked = true; // a table has a column
});

// positionOf returns where a column is added: after the one before it in the menu, so that removing a column can be undone; else at
// the end.
function positionOf(box, shown) {
  const listed = $$("#column-list input").map((b) => b.value);
  const before = listed.slice(0, listed.indexOf(box.value)).findLast((f) => shown.includes(f));
  return before === undefined ? shown.length : shown.indexOf(before) + 1;
}

// The list of an open menu stays in its order, but always says which columns are shown.
onShow(() => {
  const shown = shownFields();
  if (shown.length) for (const box of $$("#column-list input")) box.checked = shown.includes(box.value);
});

const shownFields = () => requested ?? $$("#grid th[data-field]").map((th) => th.dataset.field);

// showFields shows columns in an order, of which the first stays in view.
function showFields(fields) {
  requested = fields;
  const query = listingHere();
  query.delete("_column");
  query.delete("_fields");
  query.delete("_pin");
  if (fields.some((f) => f.includes(","))) for (const f of fields) query.append("_column", f);
  else query.set("_fields", fields.join(","));
  show(query);
}

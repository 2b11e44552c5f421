// Keyboard shortcuts. Arrow keys belong to the grid and to the browser.

import { $, on } from "./dom.js";
import { focusRows } from "./grid.js";

const help = document.getElementById("help");

on("click", "[data-help]", () => help.showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented || help.open) return;
  if (event.key === "Escape") return closeLatest(event);
  if (event.key === "ArrowDown" && document.activeElement.id === "search" && focusRows()) return event.preventDefault();
  if (document.activeElement.matches("input, select, textarea")) return;
  const search = document.getElementById("search");
  const shortcuts = {
    "/": () => (search?.focus(), search?.select()),
    "?": () => help.showModal(),
    j: () => $("[data-record=next]")?.click(),
    k: () => $("[data-record=prev]")?.click(),
  };
  if (!shortcuts[event.key]) return;
  event.preventDefault();
  shortcuts[event.key]();
});

// closeLatest closes what was opened last: a menu, the search, the filters of a phone, the record. A search with text is
// cleared first, and leaves the box with the next call.
function closeLatest(event) {
  const active = document.activeElement;
  const menu = active.closest("details.menu[open]") ?? $("details.menu[open]");
  if (menu) {
    menu.open = false;
    (menu.closest("th") ?? $("summary", menu)).focus();
  } else if (active.id === "search" && active.value) {
    event.preventDefault(); // browsers clear the box without an event
    active.value = "";
    active.form.requestSubmit();
  } else if (active.id === "search") active.blur();
  else if (location.hash === "#filters") $(".sheet-close").click();
  else $("[data-record=close]")?.click();
}

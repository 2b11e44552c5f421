// Keyboard shortcuts.

import { $, $$, on } from "./dom.js";

const help = document.getElementById("help");

on("click", "[data-help]", () => help.showModal());

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  const active = document.activeElement;
  const search = document.getElementById("search");
  if (event.key === "Escape") {
    const menu = $("details.menu[open]");
    if (menu) {
      menu.open = false;
      (menu.closest("th") ?? $("summary", menu)).focus();
    } else if (active === search) search.blur();
    else $("[data-record=close]")?.click();
    return;
  }
  if (active.matches("input, select, textarea")) return;
  const go = {
    "/": () => search && (search.focus(), search.select()),
    "?": () => help.showModal(),
    ArrowDown: () => !active.matches("pre, .scroll") && focusRow(1),
    ArrowUp: () => !active.matches("pre, .scroll") && focusRow(-1),
    ArrowLeft: () => !active.matches("pre, .scroll") && turn("prev"),
    ArrowRight: () => !active.matches("pre, .scroll") && turn("next"),
  }[event.key];
  if (go?.()) event.preventDefault();
  else if (event.key === "/" || event.key === "?") event.preventDefault();
});

function focusRow(step) {
  const links = $$(".results tbody th a");
  if (!links.length || $("#record")) return false;
  const at = links.findIndex((a) => a.closest("tr").contains(document.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  return true;
}

function turn(rel) {
  const link = $("#record") ? $(`[data-record=${rel}]`) : $(`.pager a[rel=${rel}]`);
  link?.click();
  return Boolean(link);
}

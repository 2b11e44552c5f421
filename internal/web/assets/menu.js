// Menus are details elements, so that they open without a script. A click outside closes them, and so does a choice.

import { $, $$, on } from "./dom.js";

document.addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Forms of filters and columns stay open for the next choice.
on("click", "details.menu .popover :is(a, button)", (event, control) => {
  const menu = control.closest("details.menu");
  const stays = control.closest(".order, [data-columns] button, [data-copy], [name=_more]");
  if (!stays) setTimeout(() => (menu.open = false)); // after the click has been handled
});

// Arrow keys move between the choices of a menu, and from a box above them to the first one.
on("keydown", "details.menu .popover", (event, popover) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.isComposing) return;
  const choices = $$(":is(.fields, .values, .files, .languages) :is(a, button, input)", popover).filter((e) => e.checkVisibility());
  const at = choices.indexOf(document.activeElement);
  const inBox = at < 0 && document.activeElement.matches("input, select");
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: choices.length - 1 }[event.key];
  if (to === undefined || !choices.length || (inBox && event.key !== "ArrowDown")) return;
  event.preventDefault();
  const box = to < 0 && $(".find input", popover);
  (box || choices.at(to % choices.length)).focus();
});

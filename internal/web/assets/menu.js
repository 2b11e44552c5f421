// Menus are details elements, so that they open without a script. A click outside closes them, and so does a choice.

import { $$, on } from "./dom.js";

document.addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Forms of filters and columns stay open for the next choice.
on("click", "details.menu .popover :is(a, button)", (event, control) => {
  const menu = control.closest("details.menu");
  const stays = control.closest(".order, [data-columns] button, [data-copy], [name=_more]");
  if (!stays) setTimeout(() => (menu.open = false)); // after the click has been handled
});

// Menus: a click outside closes them.

import { $$ } from "./dom.js";

document.addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

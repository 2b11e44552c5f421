// Floating menus and tips that scripts open. Menus without a script are details elements.

import { $, $$ } from "./dom.js";

const menu = document.createElement("div");
menu.id = "popup";
menu.className = "popup";
menu.setAttribute("popover", "auto");
let opener = null;

// place moves a floating element next to a rectangle, within the window.
export function place(element, rect) {
  const { width, height } = element.getBoundingClientRect();
  const below = rect.bottom + height + 8 < innerHeight;
  element.style.left = Math.max(4, Math.min(rect.left, innerWidth - width - 4)) + "px";
  element.style.top = Math.max(4, below ? rect.bottom + 2 : rect.top - height - 2) + "px";
}

/** @typedef {{ label: string, action: () => unknown }} MenuItem */

// openMenu shows a menu next to a rectangle. Each item has a label and an action; focus returns to the opener.
/** @type {(title: string, items: MenuItem[], rect: DOMRect, from: HTMLElement) => void} */
export function openMenu(title, items, rect, from) {
  if (!menu.isConnected) document.getElementById("main").append(menu);
  opener = from;
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", title);
  menu.replaceChildren(...items.map(({ label, action }) => {
    const item = document.createElement("button");
    item.type = "button";
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    item.textContent = label;
    item.addEventListener("click", () => {
      closeMenu();
      action();
    });
    return item;
  }));
  menu.showPopover();
  place(menu, rect);
  $("button", menu).focus();
}

function closeMenu() {
  menu.hidePopover();
  opener?.focus({ preventScroll: true });
}

menu.addEventListener("keydown", (event) => {
  const items = $$("button", menu);
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to !== undefined) items.at(to % items.length).focus();
  else if (event.key === "Escape" || event.key === "Tab") closeMenu();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

const tip = document.createElement("div");
tip.id = tip.className = "tip";
tip.setAttribute("popover", "manual");
tip.setAttribute("aria-hidden", "true"); // what it says is in the label of the element

// showTip shows a text or an element next to a rectangle; an empty text hides it.
export function showTip(content, rect) {
  if (!content) {
    if (tip.isConnected) tip.remove();
    return;
  }
  if (!tip.isConnected) {
    document.getElementById("main").append(tip);
    tip.showPopover();
  }
  tip.replaceChildren(content);
  place(tip, rect);
}

// Morphing: changes the page into a new one element by element, so that focus, text being typed, open menus and scroll
// positions stay. Attributes of an element say how it changes:
//
//   data-morph="rows"    row by row, in place
//   data-morph="opened"  when the menu that it is in opens: most links of a page are in menus, and all of them change with each key
//   data-morph="closed"  while the menu that it is in is closed: its order stays while one chooses
//   data-morph="loaded"  when its new content is loaded
//   data-own             these attributes, also of the elements within, belong to the scripts

import { Idiomorph } from "./idiomorph.js";
import { mergeRows } from "./position.js";

// morph changes an element of the page into another. With keepInput, the focused input keeps its text. With typing, rows below the
// window change after the last key. With merges, rows of other pages of the table stay. With opens, the element is in a menu that opens.
export function morph(old, next, { keepInput = true, typing = false, merges = false, opens = false } = {}) {
  Idiomorph.morph(old, next, {
    callbacks: {
      beforeNodeMorphed: (from, to) => !isPending(from, to, opens) && !isClosed(from, to) && !patchRows(from, to, typing, merges),
      beforeAttributeUpdated: (name, element, change) => !isOwn(name, element, change, keepInput),
    },
  });
}

// patchRows changes the rows of the grid node by node: they have no identity to be matched by, a general comparison of thousands
// of cells takes several times as long, and new cells would have to be laid out. It returns false for other elements.
function patchRows(from, to, typing, merges) {
  if (from.dataset?.morph !== "rows") return false;
  if (merges) finishRows();
  if (merges && mergeRows(from, to, patchNode)) return true;
  const rows = [...to.rows], old = [...from.rows];
  for (const row of old.splice(rows.length)) row.remove();
  const now = typing && from.closest("#grid") ? rowsInView(from) : rows.length;
  rows.forEach((row, i) => i >= old.length ? from.append(row) : i < now && patchNode(old[i], row));
  if (now < old.length) later(from, () => old.slice(now).forEach((row, i) => patchNode(row, rows[now + i])));
  else later(from, null);
  return true;
}

// rowsInView returns the number of rows that are above the end of the window.
function rowsInView(body) {
  const area = body.closest("#grid"), height = body.rows[0]?.offsetHeight;
  return height ? Math.ceil((area.scrollTop + area.clientHeight) / height) + 1 : 0;
}

// Rows out of view take as long to lay out and to paint as those in view. While one types, they change after the last key, or
// before they can be seen or used.
let finish = null, finishTimer;

function later(body, action) {
  clearTimeout(finishTimer);
  finish = action && (() => {
    body.removeAttribute("data-pending");
    action();
  });
  body.toggleAttribute("data-pending", Boolean(action));
  if (action) finishTimer = setTimeout(finishRows, 300);
}

function finishRows() {
  clearTimeout(finishTimer);
  finish?.();
  finish = null;
}

for (const type of ["scroll", "pointerdown", "focusin", "keydown", "copy"]) {
  document.addEventListener(type, ({ target }) => target.id !== "search" && finishRows(), { capture: true, passive: true });
}
addEventListener("beforeprint", finishRows);

// patchNode changes a node without identity into another.
export function patchNode(old, next) {
  if (old.nodeType === 3) return old.data !== next.data && (old.data = next.data);
  patchAttributes(old, next);
  let a = old.firstChild, b = next.firstChild;
  while (a && a.nodeName === b?.nodeName) [a, b] = [a.nextSibling, b.nextSibling];
  if (a || b) return old.replaceChildren(...next.childNodes);
  for ([a, b] = [old.firstChild, next.firstChild]; a; [a, b] = [a.nextSibling, b.nextSibling]) patchNode(a, b);
}

// patchAttributes sets the attributes of an element, except those of the keyboard.
function patchAttributes(old, next) {
  for (const name of next.getAttributeNames()) {
    const value = next.getAttribute(name);
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const name of old.getAttributeNames()) if (name !== "tabindex" && !next.hasAttribute(name)) old.removeAttribute(name);
}

// isClosed reports whether a part of the page is in a closed menu, and changes when it opens.
const closed = new WeakMap(); // what the content of a menu changes into

function isClosed(from, to) {
  if (from.dataset?.morph !== "opened" || from.parentNode.open !== false) return false;
  closed.set(from, to);
  return true;
}

document.addEventListener("toggle", ({ target }) => {
  const from = target.open && target.lastElementChild, to = closed.get(from);
  if (!to) return;
  closed.delete(from);
  morph(from, to, { opens: true });
}, true);

// isPending reports whether a part of the page stays as it is: its new content is loaded later, or one chooses from it.
function isPending(from, to, opens) {
  if (from.dataset?.morph === "closed") return !opens && from.closest("details").open;
  if (from.dataset?.morph !== "loaded" || from.dataset.loaded === undefined || from.id !== to.id) return false;
  if (to.dataset.loaded !== undefined || to.dataset.total !== undefined) return false;
  delete from.dataset.loaded;
  delete from.dataset.requested;
  return true;
}

// isOwn reports whether an attribute belongs to the user or to a script rather than to the server.
function isOwn(name, element, change, keepInput) {
  switch (name) {
    case "open": return change === "remove";
    case "value": if (keepInput && element === document.activeElement && element.type !== "checkbox" && !element.list) return true; break;
    case "style": return true;
    case "hidden": return element.classList.contains("js"); // shown by the scripts
  }
  return element.closest(`[data-own~="${name}"]`) !== null;
}

// Morphing: changes the page into a new one element by element, so that focus, text being typed, open menus and scroll
// positions stay.

import { Idiomorph } from "./idiomorph.js";

// morph changes an element of the page into another. With keepInput, the focused input keeps its text.
export function morph(old, next, { keepInput = true } = {}) {
  Idiomorph.morph(old, next, {
    callbacks: {
      beforeNodeMorphed: (from, to) => !isPending(from, to) && !patchRows(from, to),
      beforeAttributeUpdated: (name, element, change) => !isOwn(name, element, change, keepInput),
    },
  });
}

// patchRows changes the rows of the grid node by node: they have no identity to be matched by, a general comparison of thousands
// of cells takes several times as long, and new cells would have to be laid out. It returns false for other elements.
function patchRows(from, to) {
  if (from.tagName !== "TBODY") return false;
  const rows = [...to.rows];
  while (from.rows.length > rows.length) from.lastElementChild.remove();
  rows.forEach((row, i) => from.rows[i] ? patchNode(from.rows[i], row) : from.append(row));
  return true;
}

function patchNode(old, next) {
  if (old.nodeType === 3) return old.data !== next.data && (old.data = next.data);
  patchAttributes(old, next);
  const nodes = [...next.childNodes];
  const same = nodes.length === old.childNodes.length && nodes.every((node, i) => node.nodeName === old.childNodes[i].nodeName);
  if (same) nodes.forEach((node, i) => patchNode(old.childNodes[i], node));
  else old.replaceChildren(...nodes);
}

// patchAttributes sets the attributes of an element, except those of the keyboard.
function patchAttributes(old, next) {
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (name !== "tabindex" && !next.hasAttribute(name)) old.removeAttribute(name);
}

// isPending reports whether a part of the page stays: content that is loaded later stays until then, and the list of columns
// keeps its order while one chooses.
function isPending(from, to) {
  if (from.id === "column-list") return from.closest("details").open;
  if (!from.matches?.(".chart[data-loaded], .facet-data[data-loaded]") || from.id !== to.id) return false;
  if (to.dataset.loaded !== undefined || to.dataset.total !== undefined) return false;
  delete from.dataset.loaded;
  delete from.dataset.requested;
  return true;
}

// isOwn reports whether an attribute belongs to the user or to a script rather than to the server.
function isOwn(name, element, change, keepInput) {
  switch (name) {
    case "open": return change === "remove";
    case "value": return element.matches(".find-value") || keepInput && element === document.activeElement && element.type !== "checkbox";
    case "style": return true;
    case "hidden": return element.classList.contains("js");
    case "tabindex":
    case "role": return element.closest("#grid") !== null;
  }
  return false;
}

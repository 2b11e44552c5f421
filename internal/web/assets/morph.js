// Morphing: changes the page into a new one element by element, so that focus, text being typed, open menus and scroll
// positions stay.

import { Idiomorph } from "./idiomorph.js";

// morph changes an element of the page into another. With keepInput, the focused input keeps its text.
export function morph(old, next, { keepInput = true } = {}) {
  Idiomorph.morph(old, next, {
    callbacks: {
      beforeNodeMorphed: (from, to) => !isPending(from, to),
      beforeAttributeUpdated: (name, element, change) => !isOwn(name, element, change, keepInput),
    },
  });
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
    case "value": return keepInput && element === document.activeElement && element.type !== "checkbox";
    case "style": return true;
    case "hidden": return element.classList.contains("js");
    case "tabindex":
    case "role": return element.closest("#grid") !== null;
  }
  return false;
}

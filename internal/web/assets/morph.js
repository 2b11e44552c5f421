// Morphing: changes the page into a new one element by element, so that focus, text being typed, open menus and scroll
// positions stay.

import { Idiomorph } from "./idiomorph.js";
import { $, $$ } from "./dom.js";

// morph changes an element of the page into another. With keepInput, the focused input keeps its text.
export function morph(old, next, { keepInput = true } = {}) {
  const hadRecord = $("#record", old);
  const row = hadRecord && $("tr.open", old)?.rowIndex;
  Idiomorph.morph(old, next, {
    callbacks: {
      beforeNodeMorphed: (from, to) => !isPending(from, to),
      beforeAttributeUpdated: (name, element) => !isOwn(name, element, keepInput),
    },
  });
  const record = $("#record");
  if (record && !hadRecord) record.focus();
  else if (hadRecord && !record && row > 0) $$("tbody th a")[row - 1]?.focus();
}

// isPending reports whether a part of the new page is loaded later; until then, the old content stays.
function isPending(from, to) {
  if (!from.classList?.contains("facet-data") || to.dataset.loaded !== undefined) return false;
  if (from.dataset.loaded === undefined) return false;
  delete from.dataset.loaded;
  from.dataset.stale = "";
  return true;
}

// isOwn reports whether an attribute belongs to the user or to a script rather than to the server.
function isOwn(name, element, keepInput) {
  switch (name) {
    case "open": return element.matches("details, dialog");
    case "value": return keepInput && element === document.activeElement;
    case "hidden": return element.classList.contains("js");
    case "tabindex":
    case "role": return element.closest("#grid") !== null;
  }
  return false;
}

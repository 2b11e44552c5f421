// The record beside the grid: a click on a row opens it, and closing it returns to the row.

import { $, $$, grid, on, onShow } from "./dom.js";
import { foldText } from "./counts.js";
import { focusCell, isCards, revealRow } from "./grid.js";
import { visit } from "./nav.js";

on("click", "#grid tbody tr", (event, row) => {
  const selects = !getSelection().isCollapsed; // text
  if (event.defaultPrevented || event.button || selects || event.target.closest("a, button, input, summary")) return;
  const { href } = $("th a", row);
  if (event.metaKey || event.ctrlKey) window.open(href);
  else visit(href);
});

let openRow = null; // id of its row, empty if the page does not have it; null: no record is open

onShow(() => {
  const record = document.getElementById("record");
  const before = openRow;
  const row = grid() && $("tr.open", grid());
  openRow = record ? row?.id ?? "" : null;
  if (row) revealRow(row);
  if (record && before === null) record.focus();
  else if (!record && before && document.activeElement === document.body) {
    const column = $("tr > [tabindex='0']", grid())?.cellIndex ?? 1, closed = document.getElementById(before);
    if (closed && isCards()) $("th a", closed).focus();
    else focusCell(closed?.cells[column]);
  }
});

// The box above the values hides those without the text in the name or the value.
function findValue(box) {
  const text = foldText(box.value);
  for (const item of $$("#record dl > div")) item.hidden = !foldText(item.textContent).includes(text);
}

on("input", ".find-value", (event, box) => findValue(box));
onShow(() => $(".find-value") && findValue($(".find-value"))); // also of the next record

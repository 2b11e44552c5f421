// The values of filters and the lists of columns, requested when they are needed.

import { $, $$, on, onShow, swap } from "./dom.js";
import { listing } from "./address.js";
import { fetchPart } from "./nav.js";
import { morph } from "./morph.js";

// loadCounts requests the values of a filter with their counts: the first ones, or more of them.
async function loadCounts(details, more = false) {
  const data = $(".facet-data", details);
  if (!data || !swap()?.dataset.facets) return;
  const query = listing();
  for (const name of ["_facet", "_more", "_offset", "_values"]) query.delete(name);
  query.set(more ? "_more" : "_facet", details.dataset.facet);
  const offset = more && $("input[name=_offset]", data)?.value;
  if (offset) query.set("_offset", offset);
  const find = $("input[name=_values]", details).value;
  if (find) query.set("_values", find);
  const part = await fetchPart(swap().dataset.facets + "?" + query);
  const next = part && $("[data-facet]", part);
  if (!next || find !== $("input[name=_values]", details)?.value) return;
  next.className = "facet-data";
  next.removeAttribute("data-facet");
  next.dataset.loaded = "";
  if (offset) prependValues(next, data);
  morph(data, next);
}

// prependValues adds the values before the next ones, which may repeat those that are selected.
function prependValues(next, data) {
  const items = $$(".values li", data);
  const known = new Set(items.map((li) => $("input", li).value));
  for (const li of $$(".values li", next)) if (known.has($("input", li)?.value)) li.remove();
  $(".values", next).prepend(...items);
}

document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.dataset.facet && $(".facet-data:not([data-loaded])", target)) loadCounts(target);
}, true);

on("input", "[data-facet] input[name=_values]", (event, box) => loadCounts(box.closest("details")));

on("click", "[data-facet] button[name=_more]", (event, button) => {
  event.preventDefault();
  loadCounts(button.closest("details"), true);
});

onShow(() => $$("details[data-facet][open]").filter((d) => $(".facet-data:not([data-loaded])", d)).forEach((d) => loadCounts(d)));

// A box that finds columns hides the others, and requests columns if the page does not list them all.
on("input", "input[name=_find]", async (event, box) => {
  const list = $(".fields", box.form);
  const text = foldText(box.value);
  for (const item of list.children) item.hidden = !foldText(item.textContent).includes(text);
  if (list.dataset.complete !== undefined) return;
  const query = listing();
  query.set("_find", box.value);
  const part = await fetchPart(swap().dataset.fields + "?" + query);
  const next = part && box.isConnected && $("#" + list.id, part);
  if (next && foldText(box.value) === text) list.replaceChildren(...next.children);
});

// A menu opens with all of its columns.
document.addEventListener("toggle", ({ target }) => {
  const box = target.open && $("input[name=_find]", target);
  if (!box?.value) return;
  box.value = "";
  box.dispatchEvent(new Event("input", { bubbles: true }));
}, true);

// Enter selects the first column that is left.
on("keydown", "input[name=_find]", (event, box) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  $("li:not([hidden]) :is(a, button, input:not(:checked))", $(".fields", box.form))?.click();
});

export const foldText = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

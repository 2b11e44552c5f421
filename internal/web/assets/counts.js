// Facet counts, requested after the page is shown, once per filter.

import { $, $$, onShow, swap } from "./dom.js";
import { fetchPart } from "./nav.js";
import { morph } from "./morph.js";

async function loadCounts(names) {
  const root = swap();
  if (!root?.dataset.facets || !names.length) return;
  const places = $$("details[data-facet]", root).filter((d) => names.includes(d.dataset.facet));
  for (const p of places) p.dataset.requested = "";
  const query = new URLSearchParams(location.search);
  query.delete("_facet");
  query.delete("_record");
  for (const n of names) query.append("_facet", n);
  const part = await fetchPart(root.dataset.facets + "?" + query);
  for (const p of places) delete p.dataset.requested;
  for (const next of $$("[data-facet]", part ?? document.createElement("div"))) {
    const data = $(".facet-data", places.find((d) => d.dataset.facet === next.dataset.facet));
    next.className = "facet-data";
    next.dataset.loaded = "";
    delete next.dataset.facet;
    morph(data, next);
  }
}

// missingCounts returns the open filters whose counts are neither loaded nor requested.
function missingCounts() {
  return $$("details[data-facet][open]:not([data-mode=prefix]):not([data-requested])", swap() ?? document)
    .filter((d) => $(".facet-data", d).dataset.loaded === undefined)
    .map((d) => d.dataset.facet);
}

document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.dataset.facet) loadCounts(missingCounts());
}, true);

onShow(() => loadCounts(missingCounts()));

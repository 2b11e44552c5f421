// Starts the viewer of the OpenAPI document, and adds missing labels and roles to its elements.
//
// The viewer processes the whole document before it shows anything, seconds per million characters. Of a large document it
// gets the operations that belong to no dataset; of a selected dataset, it gets the document.
const place = document.getElementById("swagger");
const maxDocument = 300_000; // characters that are shown without a selection
const maxFields = 100; // of a dataset that are shown

new MutationObserver(() => {
  for (const select of place.querySelectorAll("select:not([aria-label])")) select.ariaLabel = select.id || "select";
  for (const cell of place.querySelectorAll(".col_header:not([role])")) cell.role = "columnheader";
  for (const table of place.querySelectorAll("table[role=region]")) table.role = "table";
}).observe(place, { childList: true, subtree: true });

// datasetOf returns the dataset of a path, if any.
const datasetOf = (path) => path.match(/^\/api\/v1\/([^/{]+\/[^/{]+)\/(?:data|facets)$/)?.[1];

// withoutDatasets returns the document without the operations and schemas of datasets.
function withoutDatasets(whole) {
  const { schemas, ...components } = whole.components;
  const paths = Object.fromEntries(Object.entries(whole.paths).filter(([p]) => !datasetOf(p)));
  const used = {};
  const follow = (part) => {
    for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used[name]) continue;
      used[name] = schemas[name];
      follow(schemas[name]);
    }
  };
  follow([paths, components]);
  return { ...whole, paths, components: { ...components, schemas: used } };
}

// shortened truncates lists of fields.
function shortened(part) {
  if (Array.isArray(part)) return (part.every((e) => typeof e === "string") ? part.slice(0, maxFields) : part).map(shortened);
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [
    name, shortened(name === "properties" ? Object.fromEntries(Object.entries(value).slice(0, maxFields)) : value),
  ]));
}

// showSelection shows the form that selects a dataset.
function showSelection(note) {
  const form = document.getElementById("pick");
  form.querySelector("[data-note]").textContent = note;
  form.hidden = false;
}

const load = async (address) => (await fetch(address, { headers: { Accept: "application/json" } })).text();

async function start() {
  const text = await load(place.dataset.document);
  const whole = JSON.parse(text);
  const selected = new URLSearchParams(location.search).get("dataset");
  let spec = whole;
  if (text.length > maxDocument || selected || !Object.keys(whole.paths).some(datasetOf)) { // the last: too large to describe all datasets
    spec = selected ? JSON.parse(await load(`${place.dataset.document}?dataset=${encodeURIComponent(selected)}`)) : withoutDatasets(whole);
    if (!spec.paths) spec = withoutDatasets(whole); // no such dataset
    const wide = JSON.stringify(spec).length > maxDocument;
    if (wide) spec = shortened(spec);
    showSelection(wide ? `The first ${maxFields} fields are shown; the OpenAPI document contains all.` :
      selected ? "The operations of one dataset are shown." : "Select a dataset to see its operations.");
  }
  window.SwaggerUIBundle({
    spec,
    domNode: place,
    deepLinking: false, // would nest links in buttons
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    syntaxHighlight: { activated: false },
    validatorUrl: null,
    persistAuthorization: false,
  });
}

start().catch(() => {
  const note = document.createElement("p");
  note.className = "notice";
  note.textContent = "Cannot load the OpenAPI document. Reload the page to try again.";
  place.replaceChildren(note);
});

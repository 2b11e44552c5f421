// Starts the viewer of the OpenAPI document, and gives names to its controls that have none.
//
// The viewer works through all it is given before it shows any of it, seconds for each million characters. So of a large
// document it is given what belongs to no dataset, and to the one that is chosen. The document itself always has all.
const place = document.getElementById("swagger");
const most = 300_000; // characters that are shown without a choice
const mostFields = 100; // of a dataset with more, the first ones are shown

new MutationObserver(() => {
  for (const select of place.querySelectorAll("select:not([aria-label])")) select.ariaLabel = select.id || "choice";
}).observe(place, { childList: true, subtree: true });

// datasetOf returns the dataset that a path is of, if it is of one.
const datasetOf = (path) => path.match(/^\/api\/v1\/([^/{]+\/[^/{]+)\/(?:data|facets)$/)?.[1];

// only returns the document without the datasets but one, and without the schemas that are theirs.
function only(whole, dataset) {
  const { schemas, ...components } = whole.components;
  const paths = Object.fromEntries(Object.entries(whole.paths).filter(([p]) => [undefined, dataset].includes(datasetOf(p))));
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

// shortened leaves out what comes behind the first fields, wherever they are listed.
function shortened(part) {
  if (Array.isArray(part)) return (part.every((e) => typeof e === "string") ? part.slice(0, mostFields) : part).map(shortened);
  if (part === null || typeof part !== "object") return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [
    name, shortened(name === "properties" ? Object.fromEntries(Object.entries(value).slice(0, mostFields)) : value),
  ]));
}

// offer lets people choose the dataset that is shown.
function offer(whole, chosen, note) {
  const form = document.getElementById("pick");
  const names = [...new Set(Object.keys(whole.paths).map(datasetOf).filter(Boolean))];
  form.elements.dataset.append(...names.map((name) => new Option(name, name, false, name === chosen)));
  form.querySelector("p").textContent = note;
  form.hidden = false;
}

async function start() {
  const text = await (await fetch(place.dataset.document, { headers: { Accept: "application/json" } })).text();
  const whole = JSON.parse(text);
  const chosen = new URLSearchParams(location.search).get("dataset");
  let spec = whole;
  if (text.length > most || chosen) {
    spec = only(whole, chosen);
    const wide = JSON.stringify(spec).length > most;
    if (wide) spec = shortened(spec);
    offer(whole, chosen, wide ? `Of its fields the first ${mostFields} are shown here; the document has them all.` :
      "The operations of one dataset are shown at a time; the document has them all.");
  }
  window.SwaggerUIBundle({
    spec,
    domNode: place,
    deepLinking: false, // its links would stand within buttons
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
  note.textContent = "The document could not be read. Reload the page to try again.";
  place.replaceChildren(note);
});

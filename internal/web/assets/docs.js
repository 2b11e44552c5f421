// Starts the viewer of the OpenAPI document, and gives names to its controls that have none.
const place = document.getElementById("swagger");
new MutationObserver(() => {
  for (const select of place.querySelectorAll("select:not([aria-label])")) select.ariaLabel = select.id || "choice";
}).observe(place, { childList: true, subtree: true });
window.SwaggerUIBundle({
  url: place.dataset.document,
  domNode: place,
  deepLinking: false, // its links would stand within buttons
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  persistAuthorization: false,
});

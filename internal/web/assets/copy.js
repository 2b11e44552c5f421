// Copy buttons, and the JSON of the API call.

import { $, $$, on, onShow } from "./dom.js";

on("click", "button[data-copy]", async (event, button) => {
  const code = $("code", button.closest(".code"));
  try {
    await navigator.clipboard.writeText(code.textContent.replace(/^GET /, ""));
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Press Ctrl+C";
  }
  setTimeout(() => (button.textContent = "Copy"), 1600);
});

async function showJSON(details) {
  if (details.dataset.shown === details.dataset.json) return;
  details.dataset.shown = details.dataset.json;
  try {
    const response = await fetch(details.dataset.json, { headers: { Accept: "application/json" } });
    $("code", details).textContent = JSON.stringify(await response.json(), null, 2);
  } catch {
    delete details.dataset.shown;
  }
}

document.addEventListener("toggle", ({ target }) => {
  if (target.open && target.dataset.json) showJSON(target);
}, true);

onShow(() => $$("details[data-json][open]").forEach(showJSON));

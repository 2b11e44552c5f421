// Images of datasets: one that cannot be loaded is replaced by a placeholder.

import { $$ } from "./dom.js";

function replaceImage(image) {
  const place = document.createElement("span");
  place.className = "gone";
  place.title = "This image is not available";
  image.replaceWith(place);
}

document.addEventListener("error", ({ target }) => target.tagName === "IMG" && replaceImage(target), true);

export function enhance() {
  for (const i of $$("main img")) if (i.complete && !i.naturalWidth && i.currentSrc) replaceImage(i);
}

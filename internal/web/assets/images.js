// Images of datasets: one that cannot be loaded is replaced by a placeholder.

import { $$, onShow } from "./dom.js";

function replaceImage(image) {
  const place = document.createElement("span");
  place.className = "gone";
  place.title = "This image is not available";
  image.replaceWith(place);
}

document.addEventListener("error", ({ target }) => target.tagName === "IMG" && replaceImage(target), true);

onShow(() => $$("main img").filter((i) => i.complete && !i.naturalWidth && i.currentSrc).forEach(replaceImage));

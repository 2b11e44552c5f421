// The preview of the page that other sites show in a frame. It is loaded when its part of the menu is opened.

import { $, $$ } from "./dom.js";

document.addEventListener("toggle", ({ target }) => {
  for (const part of $$("details[data-embed][open]", target.parentNode)) {
    const { embed } = part.dataset, shown = $("iframe", part);
    if (!part.checkVisibility() || shown?.getAttribute("src") === embed) continue;
    const frame = shown ?? document.createElement("iframe");
    frame.title = "Preview of the embedded page";
    frame.src = embed;
    $("summary", part).after(frame);
  }
}, true);

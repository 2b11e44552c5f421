// Progressive enhancement of the pages: every view works without this script. Modules register their listeners on the
// document when they are imported; enhance initializes new content after the page is loaded and after each navigation.

import "./nav.js";
import "./forms.js";
import "./menu.js";
import "./theme.js";
import "./keys.js";
import * as copy from "./copy.js";
import * as counts from "./counts.js";
import * as images from "./images.js";
import { $$ } from "./dom.js";

function enhance() {
  for (const e of $$(".js[hidden]")) e.hidden = false;
  for (const module of [counts, copy, images]) module.enhance(document);
}

document.documentElement.classList.add("js");
document.addEventListener("swapped", enhance);
enhance();

// Progressive enhancement of the pages: every view works without this script. Modules register their listeners on the
// document; "shown" initializes new content. The server joins all modules into this one (bundle.go).

import { $$, onShow } from "./dom.js";
import { visit } from "./nav.js";
import { listing } from "./address.js";
import "./forms.js";
import "./menu.js";
import "./theme.js";
import "./keys.js";
import "./copy.js";
import "./counts.js";
import "./images.js";

export { listing, visit };

onShow(() => $$(".js[hidden]").forEach((e) => (e.hidden = false)));
document.documentElement.classList.add("js");
document.dispatchEvent(new Event("shown"));

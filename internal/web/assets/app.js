// Progressive enhancement of the pages: every view works without this script. Modules register their listeners on the
// document; "shown" initializes new content. The server joins all modules into this one (bundle.go).

import { $, $$, announce, grid, on, onShow } from "./dom.js";
import { morph } from "./morph.js";
import { visit } from "./nav.js";
import { fill, listing } from "./address.js";
import { copyText, shownValue } from "./copy.js";
import { moveTo, rowsPerScreen } from "./grid.js";
import { headerOf, rawOf } from "./cellmenu.js";
import { currentWalk, moveBy, numberOf, rowAt } from "./position.js";
import { fetchRows, onRows } from "./rows.js";
import { showTip } from "./popup.js";
import "./forms.js";
import "./counts.js";
import "./menu.js";
import "./share.js";
import "./theme.js";
import "./images.js";
import "./record.js";
import "./cells.js";
import "./chips.js";
import "./resize.js";
import "./columns.js";
import "./distributions.js";
import "./keys.js";

export { $, $$, announce, fill, listing, morph, showTip, visit };
export { copyText, currentWalk, fetchRows, grid, headerOf, moveBy, moveTo, numberOf, on, onRows, onShow, rawOf, rowAt, rowsPerScreen, shownValue };

onShow(() => $$(".js[hidden]").forEach((e) => (e.hidden = false)));
document.documentElement.classList.add("js");
document.dispatchEvent(new Event("shown"));

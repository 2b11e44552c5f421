// Progressive enhancement: links and forms within #swap are fetched, and the #swap element of the response replaces the
// current one. All state is in the URL, so history, reload and sharing work as without this script.

const doc = document;
const swap = () => doc.getElementById("swap");
const $ = (selector, from = doc) => from.querySelector(selector);
const $$ = (selector, from = doc) => [...from.querySelectorAll(selector)];

doc.documentElement.classList.add("js");
for (const e of $$(".js[hidden]")) e.hidden = false;

// ---- Navigation. Only the response to the latest request is shown: earlier requests are aborted, and their responses are
// dropped.

let latest = 0; // number of the latest request
let running = null;
let typing = false; // the last navigation was caused by typing
const bare = () => location.href.split("#")[0];
let shown = bare(); // URL of the page on the screen

async function visit(url, how = {}) {
  const mine = ++latest;
  running?.abort();
  running = new AbortController();
  swap()?.setAttribute("aria-busy", "true");
  let response, text;
  try {
    response = await fetch(url, { headers: { Accept: "text/html" }, signal: running.signal });
    text = await response.text();
  } catch (error) {
    if (error.name !== "AbortError" && mine === latest) location.assign(url);
    return;
  }
  if (mine !== latest) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  const next = page.getElementById("swap");
  if (!next || !swap()) {
    location.assign(url);
    return;
  }
  const hash = new URL(url, location.href).hash;
  const address = response.url + (response.url.includes("#") ? "" : hash);
  if (how.history !== "none") {
    history[how.typing && typing ? "replaceState" : "pushState"](null, "", address);
    typing = Boolean(how.typing);
  }
  shown = bare();
  doc.title = page.title;
  replace(next);
  if (how.scroll) $(how.scroll)?.scrollIntoView({ block: "start" });
  const announce = $("[data-announce]");
  if (announce) doc.getElementById("status").textContent = announce.textContent.trim();
  enhance();
}

// replace swaps in the new #swap element and keeps the state of the user interface: focus, text being typed, open
// details, scroll position of the table, and counts until new ones arrive.
function replace(next) {
  const old = swap();
  next = doc.adoptNode(next);
  for (const e of $$(".js[hidden]", next)) e.hidden = false;
  const active = old.contains(doc.activeElement) ? doc.activeElement : null;
  const hadRecord = $("#record", old);
  const row = hadRecord && $("tr.open", old)?.rowIndex;
  for (const was of $$("details", old)) {
    const now = $$("details", next).find((d) => nameOf(d) === nameOf(was));
    if (!now) continue;
    now.open = was.open;
    const before = $(".facet-data", was);
    const after = $(".facet-data", now);
    if (before?.dataset.loaded !== undefined && after && after.dataset.loaded === undefined) {
      after.replaceChildren(...before.childNodes);
      after.dataset.stale = "";
    }
  }
  const counterpart = active && find(next, active);
  let selection;
  if (counterpart && active.matches("input:not([type=checkbox])")) {
    counterpart.value = active.value;
    selection = [active.selectionStart, active.selectionEnd];
  }
  const left = $(".results .scroll", old)?.scrollLeft;
  old.replaceWith(next);
  const scroll = $(".results .scroll", next);
  if (scroll && left) scroll.scrollLeft = left;
  const record = $("#record", next);
  if (record && (!hadRecord || !counterpart)) record.focus();
  else if (hadRecord && !record && row > 0) $$("tbody th a", next)[row - 1]?.focus();
  else if (counterpart) {
    counterpart.focus({ preventScroll: true });
    if (selection && selection[0] !== null) counterpart.setSelectionRange(...selection);
  }
}

function nameOf(details) {
  return details.dataset.facet ? "facet " + details.dataset.facet : $("summary", details)?.textContent;
}

// find returns the element of the new page that corresponds to an element of the old one.
function find(next, e) {
  if (e.id) return next.querySelector("#" + CSS.escape(e.id));
  const same = $$(e.tagName, next);
  if (e.name) return same.find((o) => o.name === e.name && o.type === e.type && (o.type !== "checkbox" || o.value === e.value));
  if (e.dataset.record) return same.find((o) => o.dataset.record === e.dataset.record);
  return same.find((o) => o.textContent === e.textContent && o.closest("th, td")?.cellIndex === e.closest("th, td")?.cellIndex);
}

addEventListener("popstate", () => {
  if (!swap() || (bare() === shown && !swap().hasAttribute("aria-busy"))) return; // a fragment of the same page
  visit(location.href, { history: "none" });
});

doc.addEventListener("click", (event) => {
  const a = event.target.closest("a[href]");
  if (!a || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(a.href);
  const inside = swap()?.contains(a) || a.dataset.swap !== undefined;
  if (!inside || a.hasAttribute("download") || url.origin !== location.origin || url.pathname !== location.pathname) return;
  if (a.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  const pager = a.closest(".pager");
  visit(a.href, { scroll: pager ? ".toolbar" : url.hash || null });
});

// ---- Forms.

// addressOf returns the URL that a form submits, without empty values.
function addressOf(form, live) {
  const url = new URL(form.action);
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value === "") continue;
    query.append(name, name === "search" && live && form.id === "browse" ? asPrefix(value) : value);
  }
  url.search = query;
  return url.href;
}

// asPrefix turns the last word of a search into a prefix, because it may be incomplete. A trailing space completes it.
function asPrefix(search) {
  const quotes = search.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}\p{M}]$/u.test(search) ? search + "*" : search;
}

let timer;
function debounce(delay, action) {
  clearTimeout(timer);
  timer = setTimeout(action, delay);
}

doc.addEventListener("input", (event) => {
  const { target } = event;
  const form = target.form;
  if (event.isComposing || !form || target.type === "checkbox") return;
  if (form.dataset.live !== undefined) {
    // By then, a response to an earlier request may have replaced the form.
    debounce(target.type === "search" ? 90 : 350, () => visit(addressOf($("form[data-live]"), true), { typing: true }));
  }
});
doc.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

doc.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.dataset.columns === undefined) return;
  const boxes = $$("input[type=checkbox]", form);
  if (boxes.some((b) => b.checked)) visit(addressOf(form));
});

doc.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get" || !(swap()?.contains(form) || form.dataset.swap !== undefined)) return;
  event.preventDefault();
  clearTimeout(timer);
  visit(addressOf(form, form.dataset.live !== undefined));
});

// ---- Facet counts, requested after the page is shown, once per filter.

async function loadCounts(names) {
  const root = swap();
  if (!root?.dataset.facets || !names.length) return;
  const places = $$("details[data-facet]", root).filter((d) => names.includes(d.dataset.facet));
  for (const p of places) p.dataset.requested = "";
  const query = new URLSearchParams(location.search);
  query.delete("_facet");
  query.delete("_record");
  for (const n of names) query.append("_facet", n);
  let text;
  try {
    const response = await fetch(root.dataset.facets + "?" + query, { headers: { Accept: "text/html" }, signal: running?.signal });
    if (!response.ok) throw new Error(response.statusText);
    text = await response.text();
  } catch {
    for (const p of places) delete p.dataset.requested;
    return;
  }
  if (root !== swap()) return; // the page has been replaced
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const part of $$("[data-facet]", page)) {
    const data = $(".facet-data", places.find((d) => d.dataset.facet === part.dataset.facet));
    const focused = data.contains(doc.activeElement) && doc.activeElement.textContent;
    data.replaceChildren(...doc.adoptNode(part).childNodes);
    data.dataset.loaded = "";
    delete data.dataset.stale;
    if (focused) $$("a", data).find((a) => a.textContent === focused)?.focus();
  }
}

// missingCounts returns the open filters whose counts are neither loaded nor requested.
function missingCounts() {
  return $$("details[data-facet][open]:not([data-mode=prefix]):not([data-requested])", swap() ?? doc)
    .filter((d) => $(".facet-data", d).dataset.loaded === undefined)
    .map((d) => d.dataset.facet);
}

doc.addEventListener("toggle", (event) => {
  const d = event.target;
  if (!d.open) return;
  if (d.dataset.facet) loadCounts(missingCounts());
  if (d.dataset.json) showJSON(d);
}, true);

// ---- JSON, copy buttons, help and theme.

async function showJSON(details) {
  const place = $("code", details);
  if (details.dataset.shown === details.dataset.json) return;
  details.dataset.shown = details.dataset.json;
  try {
    const response = await fetch(details.dataset.json, { headers: { Accept: "application/json" } });
    place.textContent = JSON.stringify(await response.json(), null, 2);
  } catch {
    delete details.dataset.shown;
  }
}

doc.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.copy !== undefined) {
    const text = $("code", button.closest(".code")).textContent;
    try {
      await navigator.clipboard.writeText(text.replace(/^GET /, ""));
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("code", button.closest(".code")));
      button.textContent = "Press Ctrl+C";
    }
    setTimeout(() => (button.textContent = "Copy"), 1600);
  } else if (button.dataset.help !== undefined) {
    doc.getElementById("help").showModal();
  } else if (button.dataset.themeToggle !== undefined) {
    const root = doc.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    const secure = location.protocol === "https:" ? "; Secure" : "";
    doc.cookie = `herbarium_theme=${root.dataset.theme}; Path=${root.dataset.base}/; Max-Age=31536000; SameSite=Lax${secure}`;
  }
});

doc.addEventListener("click", (event) => {
  for (const menu of $$("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// An image that cannot be loaded is replaced by a placeholder.
function replaceImage(image) {
  const place = doc.createElement("span");
  place.className = "gone";
  place.title = "This image is not available";
  image.replaceWith(place);
}
doc.addEventListener("error", (event) => event.target.tagName === "IMG" && replaceImage(event.target), true);

// ---- Keyboard shortcuts.

doc.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const active = doc.activeElement;
  const help = doc.getElementById("help");
  if (help.open) return;
  const search = doc.getElementById("search");
  if (event.key === "Escape") {
    const menu = $("details.menu[open]");
    if (menu) {
      menu.open = false;
      $("summary", menu).focus();
    } else if (active === search) search.blur();
    else $("[data-record=close]")?.click();
    return;
  }
  if (active.matches("input, select, textarea")) return;
  const go = {
    "/": () => search && (search.focus(), search.select()),
    "?": () => help.showModal(),
    ArrowDown: () => !active.matches("pre, .scroll") && focusRow(1),
    ArrowUp: () => !active.matches("pre, .scroll") && focusRow(-1),
    ArrowLeft: () => !active.matches("pre, .scroll") && turnPage("prev"),
    ArrowRight: () => !active.matches("pre, .scroll") && turnPage("next"),
  }[event.key];
  if (go?.()) event.preventDefault();
  else if (event.key === "/" || event.key === "?") event.preventDefault();
});

function focusRow(step) {
  const links = $$(".results tbody th a");
  if (!links.length || $("#record")) return false;
  const at = links.findIndex((a) => a.closest("tr").contains(doc.activeElement));
  links[Math.min(Math.max(at + step, 0), links.length - 1)].focus();
  return true;
}

function turnPage(rel) {
  const link = $("#record") ? $(`[data-record=${rel}]`) : $(`.pager a[rel=${rel}]`);
  link?.click();
  return Boolean(link);
}

// enhance initializes a new page.
function enhance() {
  loadCounts(missingCounts());
  for (const d of $$("details[data-json][open]")) showJSON(d);
  for (const i of $$("main img")) if (i.complete && !i.naturalWidth && i.currentSrc) replaceImage(i);
}

enhance();

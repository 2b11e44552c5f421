// Navigation: links within #swap are fetched, and the #swap element of the response is morphed into the current one. All
// state is in the URL, so history, reload and sharing work as without this script.

import { $, $$, announce, on, swap } from "./dom.js";
import { morph } from "./morph.js";
import { hideFailure, showFailure } from "./failure.js";
import { positionInHistory } from "./position.js";

// Only the response to the latest request is shown: earlier requests are aborted, and their responses are dropped.
let latest = 0; // number of the latest request
let running = null;
let slowTimer; // pages that take long are dimmed
let typing = false; // the last navigation was caused by typing
const bare = () => location.href.split("#")[0];
let shown = bare(); // URL of the page on the screen

// visit shows a URL of the current page without loading it as a whole. With typing, one history entry serves for all
// requests until another navigation; history "none" changes no entry.
export async function visit(to, { typing: byTyping = false, history: entry = "push" } = {}) {
  const mine = ++latest;
  const url = entry === "none" ? to : withoutClosedFilters(to);
  const fail = (reason) => {
    swap()?.removeAttribute("aria-busy");
    swap()?.removeAttribute("data-slow");
    showFailure(reason, () => visit(to, { typing: byTyping, history: entry }));
  };
  running?.abort();
  running = new AbortController();
  swap()?.setAttribute("aria-busy", "true");
  clearTimeout(slowTimer);
  slowTimer = setTimeout(() => swap()?.hasAttribute("aria-busy") && (swap().dataset.slow = ""), 200);
  let response, text;
  try {
    response = await fetch(url, { headers: { Accept: "text/html" }, signal: running.signal });
    text = await response.text();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "AbortError") && mine === latest) fail("Offline.");
    return;
  }
  if (mine !== latest) return;
  const page = new DOMParser().parseFromString(text, "text/html");
  const next = page.getElementById("swap");
  if (!next && response.status >= 500) return fail(`The server is unavailable (${response.status}).`);
  if (!next || !swap()) {
    location.assign(url);
    return;
  }
  hideFailure();
  const began = performance.now();
  const around = document.activeElement.closest(".sheet, .pages"), before = new URL(shown);
  if (entry === "push") history.replaceState({ top: positionInHistory() }, "");
  if (entry !== "none") {
    const address = response.url + (response.url.includes("#") ? "" : new URL(url, location.href).hash);
    history[byTyping && typing ? "replaceState" : "pushState"](null, "", address);
    typing = byTyping;
  }
  shown = bare();
  document.title = page.title;
  const after = new URL(shown), isOtherPage = pageOfUrl(before) !== pageOfUrl(after);
  const merges = versionOf(swap()) === versionOf(next) && tableOf(before) === tableOf(after);
  morph(swap(), next, { keepInput: entry !== "none", typing: byTyping, merges });
  announce($("[data-announce]")?.textContent ?? "");
  const top = entry === "none" ? history.state?.top ?? 0 : 0;
  const stays = rowsOf(before) === rowsOf(after) && (!isOtherPage || merges && after.searchParams.has("_record") && entry !== "none");
  document.dispatchEvent(new CustomEvent("shown", { detail: stays ? {} : { top } }));
  if (around && document.activeElement === document.body) $$("summary, a", around).find((e) => e.checkVisibility())?.focus(); // what was focused is gone
  lastShow = performance.now() - began;
}

// rowsOf returns what a URL says about the rows besides their page: filters, search and order. The other parameters say how they
// are shown.
function rowsOf({ searchParams }) {
  const isRows = ([name]) => name !== "page" && (!name.startsWith("_") || name.includes("[") || name === "_version");
  return String(new URLSearchParams([...searchParams].filter(isRows)));
}

const pageOfUrl = ({ searchParams }) => searchParams.get("page") ?? "1";

// tableOf returns what a URL says about the table besides the page and the open record: rows of both URLs belong together.
function tableOf({ searchParams }) {
  const others = ["page", "_record", "_row", "_facet", "_more", "_offset", "_values"];
  return String(new URLSearchParams([...searchParams].filter(([name]) => !others.includes(name))));
}

const versionOf = (part) => $("table[data-more]", part)?.dataset.version ?? null;

// setAddress changes the address of the page on the screen.
export function setAddress(url) {
  history.replaceState(history.state, "", url);
  shown = bare();
}

let lastShow = 0; // time that the last page took the script, in milliseconds

// showTime returns how long to wait for the next key before a page is requested: as long as showing one takes, so that typing
// never waits for pages.
export const showTime = () => Math.min(90, lastShow);

// withoutClosedFilters removes the parameters that open the form of a filter which has been closed since.
function withoutClosedFilters(to) {
  const url = new URL(to, location.href);
  const isClosed = (name) => $(`details[data-facet="${CSS.escape(name)}"]`)?.open === false;
  for (const name of url.searchParams.getAll("_facet")) if (isClosed(name)) url.searchParams.delete("_facet", name);
  return url.href;
}

// fetchPart requests a fragment that completes the page on the screen. It returns null if the request fails or if another
// page is shown or requested in the meantime.
export async function fetchPart(url) {
  const mine = latest;
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" }, signal: running?.signal });
    const text = await response.text();
    if (!response.ok || mine !== latest) return null;
    return new DOMParser().parseFromString(text, "text/html").body;
  } catch {
    return null;
  }
}

addEventListener("popstate", () => {
  if (!swap() || (bare() === shown && !swap().hasAttribute("aria-busy"))) return; // a fragment of the same page
  visit(location.href, { history: "none" });
});

on("click", "a[href]", (event, a) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const url = new URL(a.href.baseVal ?? a.href, location.href); // links in charts are SVG elements
  const inside = swap()?.contains(a) || a.dataset.swap !== undefined;
  if (!inside || a.hasAttribute("download") || url.origin !== location.origin || url.pathname !== location.pathname) return;
  if (a.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  visit(url.href);
});

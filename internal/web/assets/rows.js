// Rows that are loaded while one scrolls: the pages around the window, one request at a time. The address names the first row in
// the window.

import { $, $$, grid, onShow } from "./dom.js";
import { listing } from "./address.js";
import { hideFailure, showFailure } from "./failure.js";
import { morph } from "./morph.js";
import { setAddress, visit } from "./nav.js";
import { showTip } from "./popup.js";
import { beginWalk, currentWalk, followScroll, layOut, moveBy, numberOf, positionInHistory, resizeRows, rowsInWindow, showAt, viewHeight } from "./position.js";

// onRows registers a function that initializes rows that were loaded.
export const onRows = (initialize) => document.addEventListener("rows", initialize);

const pageOf = (number) => Math.ceil(number / currentWalk().perPage);
let request = null; // { page, abort } of the page that is being loaded
let loadTimer, settleTimer;
let scrolled = false; // since the page was shown: the pages beside the window are loaded as well
let unnamed = false; // the address does not name the first row in the window
const bars = new Map(); // the bar of each page that was loaded

// pagesOfTable returns the first and the last page of which the table has rows.
function pagesOfTable() {
  const { rows } = currentWalk().body;
  return [pageOf(numberOf(rows[0])), pageOf(numberOf(rows[rows.length - 1]))];
}

// missingPage returns the page that is loaded next: of those in the window, then of those beside it; undefined: none is missing.
function missingPage() {
  const { first, last } = rowsInWindow(), { total } = currentWalk();
  const [from, to] = [pageOf(first), pageOf(last)], [low, high] = pagesOfTable();
  const wanted = [];
  for (let page = from; page <= to; page++) wanted.push(page);
  if (scrolled) wanted.push(to + 1, from - 1);
  return wanted.find((page) => (page < low || page > high) && page >= 1 && page <= pageOf(total));
}

// loadRows loads the next page that is missing. A request for another one is aborted.
async function loadRows() {
  clearTimeout(loadTimer);
  const page = currentWalk() ? missingPage() : undefined;
  if (page !== undefined && page === request?.page) return;
  request?.abort.abort();
  request = null;
  markLoading(page !== undefined);
  if (page === undefined) return;
  const mine = request = { page, abort: new AbortController() };
  try {
    const part = await fetchRows(page, mine.abort.signal);
    if (mine !== request) return;
    request = null;
    if (!part) return reload();
    hideFailure();
    insertPage(page, part);
  } catch (error) {
    if (mine !== request) return;
    request = null;
    markLoading(false);
    return showFailure(error instanceof TypeError ? "Offline." : String(error), loadRows);
  }
  loadRows();
}

function markLoading(is) {
  grid()?.toggleAttribute("data-fetching", is);
  if (!is) showTip("");
}

// fetchRows requests a page of the rows. It returns null if they are not of the version that is shown, or if the server rejects the
// request.
export async function fetchRows(page, signal) {
  const { more, moved, version } = currentWalk().table.dataset;
  const query = listing();
  for (const name of ["_facet", "_more", "_offset", "_values"]) query.delete(name);
  for (const [name, value] of new URLSearchParams(moved)) query.append(name, value);
  if (page > 1) query.set("page", page);
  const response = await fetch(`${more}?${query}`, { headers: { Accept: "text/html" }, signal });
  const text = await response.text();
  if (response.status >= 500 || response.status === 429) throw `The server is unavailable (${response.status}).`;
  const part = new DOMParser().parseFromString(text, "text/html").body;
  const table = response.ok && $("table[data-more]", part);
  return table && table.dataset.version === version ? part : null;
}

// reload shows the rows of the version that is live now, at the same position.
function reload() {
  markLoading(false);
  saveAddress();
  history.replaceState({ top: positionInHistory() }, "");
  visit(location.href, { history: "none" });
}

// insertPage adds a page of rows to the table. Rows that are neither in the window nor beside it are removed.
function insertPage(page, part) {
  const { body, table } = currentWalk(), rows = [...$("tbody", part).rows], [low, high] = pagesOfTable();
  const stop = focusedCell();
  if (!rows.length) return reload(); // the listing has become shorter
  const { first, last } = rowsInWindow(); // which depends on the height of the rows
  bars.set(page, $("footer", part));
  currentWalk().total = Number($("table", part).dataset.rows);
  table.setAttribute("aria-rowcount", currentWalk().total + 1);
  if (page === high + 1) body.append(...rows);
  else if (page === low - 1) body.prepend(...rows);
  else body.replaceChildren(...rows);
  removeFarRows(Math.min(pageOf(first) - 1, page), Math.max(pageOf(last) + 1, page));
  layOut();
  document.dispatchEvent(new CustomEvent("rows", { detail: { stop } }));
  settle();
}

function removeFarRows(low, high) {
  for (const row of [...currentWalk().body.rows]) {
    const page = pageOf(numberOf(row));
    if (page < low || page > high) row.remove();
  }
  for (const page of bars.keys()) if (page < low || page > high) bars.delete(page);
}

// focusedCell returns the position of the focused cell, which may be removed.
function focusedCell() {
  const cell = document.activeElement.closest?.("#grid tbody :is(th, td)");
  return cell && { number: numberOf(cell.parentElement), column: cell.cellIndex };
}

// settle updates what depends on the position after a pause.
function settle() {
  clearTimeout(settleTimer);
  settleTimer = setTimeout(() => {
    if (!currentWalk() || $("#swap[aria-busy]")) return;
    if (!unnamed) return; // the address and the bar are those of the page
    saveAddress();
    const next = bars.get(pageOf(rowsInWindow().first)), shown = $("footer.call");
    if (!next || $("#record") || $("details[open]", shown)) return;
    morph(shown, next.cloneNode(true));
    showRange();
    for (const e of $$(".js[hidden]", shown)) e.hidden = false;
    document.dispatchEvent(new CustomEvent("rows", { detail: {} }));
  }, 150);
}

// saveAddress makes the address that of the first row in the window. The page in it is that of the open record, if there is one.
function saveAddress() {
  if (location.hash && !location.hash.startsWith("#row-")) return;
  const { first } = rowsInWindow(), url = new URL(location.href), query = url.searchParams;
  if (!query.has("_record") && !query.has("_row")) {
    if (pageOf(first) > 1) query.set("page", String(pageOf(first)));
    else query.delete("page");
  }
  url.hash = first > 1 ? "row-" + first : "";
  if (url.href !== location.href) setAddress(url.href.replace(/#$/, ""));
}

// showRange shows which rows are in the window.
function showRange() {
  const { first, last } = rowsInWindow(), range = $("#pages summary")?.firstChild;
  const text = `${first.toLocaleString("en")}–${last.toLocaleString("en")}`;
  if (range && range.data !== text) range.data = text;
}

let scrollingFrame = 0, seen = 0; // position that was last seen
document.addEventListener("scroll", ({ target }) => {
  const walk = currentWalk();
  if (!walk || target !== walk.area || !walk.table.isConnected) return;
  followScroll();
  if (walk.at === seen) return; // to the side
  seen = walk.at;
  scrolled = unnamed = true;
  settle();
  scrollingFrame ||= requestAnimationFrame(() => {
    scrollingFrame = 0;
    if (currentWalk()) showWindow();
  });
}, { capture: true, passive: true });

// showWindow shows where the window is, and loads its rows: at once if they are adjacent, after a pause if one drags the scrollbar.
function showWindow() {
  showRange();
  const { first, last } = rowsInWindow(), [low, high] = pagesOfTable();
  const isFar = pageOf(first) > high + 1 || pageOf(last) < low - 1;
  clearTimeout(loadTimer);
  if (!isFar) return loadRows();
  const box = currentWalk().area.getBoundingClientRect();
  showTip(`Row ${first.toLocaleString("en")}`, new DOMRect(box.right - 140, box.top + box.height / 2, 0, 0));
  loadTimer = setTimeout(loadRows, 80);
  grid().toggleAttribute("data-fetching", true);
}

// goToRow scrolls to a row, which becomes the first one in the window, and loads it.
export function goToRow(number) {
  const { total, rowHeight } = currentWalk();
  showAt((Math.max(1, Math.min(number, total)) - 1) * rowHeight);
  arrive();
}

// bringRow scrolls as little as possible so that a row is in the window, and loads it.
export function bringRow(number) {
  const { at, rowHeight } = currentWalk(), top = (number - 1) * rowHeight, bottom = top + rowHeight - viewHeight();
  moveBy(top < at ? top - at : Math.max(0, bottom - at));
  arrive();
}

function arrive() {
  scrolled = unnamed = true;
  showRange();
  loadRows();
  settle();
}

const rowOfHash = () => Number(/^#row-(\d{1,15})$/.exec(location.hash)?.[1] ?? 0);

// Other rows begin with that of the address, or with the first one of the page.
onShow(({ detail }) => {
  clearTimeout(settleTimer);
  request?.abort.abort();
  request = null;
  bars.clear();
  markLoading(false);
  scrolled = unnamed = false;
  const before = currentWalk()?.at;
  if (!beginWalk()) return;
  const { total, rowHeight, body, perPage } = currentWalk(), page = Number(new URLSearchParams(location.search).get("page"));
  const start = (Math.min(total, rowOfHash() || (page ? (page - 1) * perPage + 1 : numberOf(body.rows[0]))) - 1) * rowHeight;
  const kept = detail?.top === 0 || before === undefined ? 0 : detail?.top ?? before; // the position stays, or is that of the history
  showAt(kept || start);
  unnamed = kept > 0;
  if (unnamed) settle();
  seen = currentWalk().at;
  showRange();
  loadRows();
});

addEventListener("hashchange", () => currentWalk() && rowOfHash() && goToRow(rowOfHash()));
addEventListener("resize", () => {
  if (!currentWalk() || !grid()) return;
  resizeRows();
  showRange();
  loadRows();
});

document.addEventListener("submit", (event) => {
  const box = event.target.matches(".jump") && currentWalk() && $("input[name=_at]", event.target);
  if (!box) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  $("#pages").open = false;
  $("#pages summary").focus();
  const number = Number(box.value.replace(/\D/g, ""));
  if (number) goToRow(number);
}, true);

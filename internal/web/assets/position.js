// Which rows are in the window. The table has some pages of a listing, and as much space as all rows take, so that the scrollbar
// leads to any of them. Browsers limit the heights of elements: the space of more rows than fit has a finer scale, and small steps
// still move by pixels.

import { $, grid } from "./dom.js";

/** @type {{ area: any, table: any, body: any, total: number, perPage: number, rowHeight: number, offset: number, top: number, at: number }} */
let walk = null; // null: the page shows its own rows only. offset: pixels of the listing less those of the scrollbar. at: pixels of the listing

export const currentWalk = () => walk;

// numberOf returns the position of a row in the listing, from 1; 0 for the header.
export const numberOf = (row) => Number(row.getAttribute("aria-rowindex")) - 1;

// rowAt returns the row at a position, 0 being the header; null if the page does not have it.
export const rowAt = (number) => number ? document.getElementById("row-" + number) : $("thead tr", grid());

const headHeight = () => $("thead", walk.area).offsetHeight; // 0 if rows are cards
export const viewHeight = () => walk.area.clientHeight - headHeight();
const listingHeight = () => walk.total * walk.rowHeight;
const spaceHeight = () => Math.min(listingHeight(), Number(walk.table.dataset.maxHeight));

// beginWalk starts to show all rows of a listing, whose page is on the screen. It returns whether it does.
export function beginWalk() {
  const area = grid(), table = area && $("table[data-more]", area), at = walk?.at ?? 0, offset = walk?.offset ?? 0;
  walk = null;
  if (!table?.tBodies[0].rows.length) {
    for (const name of ["--above", "--below"]) area?.style.removeProperty(name);
    return false;
  }
  const { rows, perPage } = table.dataset;
  walk = { area, table, body: table.tBodies[0], total: Number(rows), perPage: Number(perPage), rowHeight: 0, offset, top: area.scrollTop, at };
  measureRows();
  return true;
}

// measureRows measures the height of a row. All rows have the same.
function measureRows() {
  const { rows } = walk.body;
  walk.rowHeight = (rows[rows.length - 1].getBoundingClientRect().bottom - rows[0].getBoundingClientRect().top) / rows.length;
}

// layOut sets the space above and below the rows that the page has.
export function layOut() {
  const { area, body, rowHeight, offset } = walk;
  const above = Math.max(0, (numberOf(body.rows[0]) - 1) * rowHeight - offset);
  area.style.setProperty("--above", above + "px");
  area.style.setProperty("--below", Math.max(0, spaceHeight() - above - body.rows.length * rowHeight) + "px");
}

// scale returns the ends of the scrollbar and of the listing. Near the ends, both have the same scale: rows around the window have
// their place.
function scale() {
  const space = spaceHeight(), view = viewHeight();
  return { exact: Math.min(20_000, space / 4), space: Math.max(0, space - view), listing: Math.max(0, listingHeight() - view) };
}

function listingPixels(top) {
  const { exact, space, listing } = scale();
  if (space === listing || top <= exact) return top;
  if (top >= space - exact) return top + listing - space;
  return exact + (top - exact) * (listing - 2 * exact) / (space - 2 * exact);
}

function scrollPixels(at) {
  const { exact, space, listing } = scale();
  if (space === listing || at <= exact) return at;
  if (at >= listing - exact) return at - listing + space;
  return exact + (at - exact) * (space - 2 * exact) / (listing - 2 * exact);
}

// showAt scrolls to a position in pixels of the listing.
export function showAt(at) {
  const { area } = walk;
  walk.at = Math.max(0, Math.min(at, scale().listing));
  walk.offset = walk.at - scrollPixels(walk.at);
  layOut();
  area.scrollTop = walk.at - walk.offset;
  walk.top = area.scrollTop; // browsers round it
  if (scale().space !== scale().listing) walk.offset = walk.at - walk.top;
}

// moveBy scrolls by pixels.
export function moveBy(pixels) {
  if (walk) showAt(walk.at + pixels);
  else grid().scrollTop += pixels;
}

// followScroll updates the position after the grid was scrolled.
export function followScroll() {
  const { area } = walk, top = area.scrollTop, { exact, space, listing } = scale();
  const step = top - walk.top;
  if (!step) return;
  walk.top = top;
  if (space === listing) walk.offset = 0;
  else if (Math.abs(step) > 4 * viewHeight()) walk.offset = listingPixels(top) - top; // by the scrollbar
  walk.at = top + walk.offset;
  const isNearEnd = top < exact / 2 ? walk.offset > 1 : top > space - exact / 2 && walk.offset < listing - space - 1;
  if (space !== listing && isNearEnd) showAt(walk.at); // small steps have led to an end of the scrollbar before that of the listing
  else if (space !== listing) layOut();
}

// resizeRows keeps the first row in the window after the window has changed.
export function resizeRows() {
  const number = walk.at / walk.rowHeight;
  measureRows();
  showAt(number * walk.rowHeight);
}

// rowsInWindow returns the positions of the first and the last row in the window.
export function rowsInWindow() {
  const { at, rowHeight, total } = walk;
  const first = Math.min(total, Math.floor(at / rowHeight + 0.5) + 1);
  return { first, last: Math.max(first, Math.min(total, Math.floor((at + viewHeight()) / rowHeight + 0.5))) };
}

// positionInHistory returns what the history remembers of the position: pixels of the listing.
export const positionInHistory = () => walk ? walk.at : grid()?.scrollTop ?? 0;

// mergeRows changes the rows that both pages have, and adds the others if they are adjacent. It returns false if they are not. All
// rows belong to the same listing.
export function mergeRows(body, next, patchRow) {
  if (!walk || body !== walk.body || !next.rows.length) return false;
  const ends = (rows) => [numberOf(rows[0]), numberOf(rows[rows.length - 1])];
  const [first, last] = ends(body.rows), [nextFirst, nextLast] = ends(next.rows);
  if (nextFirst > last + 1 || nextLast < first - 1) return false;
  for (const row of [...body.querySelectorAll(".open")]) {
    row.classList.remove("open");
    row.removeAttribute("aria-current");
  }
  const before = [], after = [];
  for (const row of [...next.rows]) {
    const number = numberOf(row);
    if (number < first) before.push(row);
    else if (number > last) after.push(row);
    else patchRow(rowAt(number), row);
  }
  body.prepend(...before);
  body.append(...after);
  return true;
}

// Addresses: queries of the page that is shown, changed for a filter, an order or the columns.

import { visit } from "./nav.js";

// listing returns the query of the page without the page number and the open record.
export function listing() {
  const query = new URLSearchParams(location.search);
  query.delete("page");
  query.delete("_record");
  query.delete("_row");
  return query;
}

// listingHere is listing with the page number, for changes that leave the rows in their places.
export function listingHere() {
  const query = listing(), page = new URLSearchParams(location.search).get("page");
  if (page) query.set("page", page);
  return query;
}

// addressOf returns the address of the page with a query.
export const addressOf = (query) => location.pathname + (query.size ? "?" + query : "");

// show visits the page with a query.
export const show = (query, options) => visit(addressOf(query), options);

// fill returns an address of the server with values for its last parameters, which are empty.
export function fill(address, ...values) {
  const [path, query = ""] = address.split("?");
  const params = query.split("&");
  const filled = params.slice(-values.length).map((param, i) => param + encodeURIComponent(values[i]));
  return `${path}?${[...params.slice(0, -values.length), ...filled].join("&")}`;
}

// withWidth returns the query with another width of a column; 0: the default.
export function withWidth(query, field, pixels = 0) {
  const others = query.getAll("_width").filter((width) => width.replace(/:[^:]*$/, "") !== field);
  query.delete("_width");
  for (const width of pixels ? [...others, `${field}:${pixels}`] : others) query.append("_width", width);
  return query;
}

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

// addressOf returns the address of the page with a query.
export const addressOf = (query) => location.pathname + (query.size ? "?" + query : "");

// show visits the page with a query.
export const show = (query, options) => visit(addressOf(query), options);

// filterParam returns the parameter that filters a field. Names that have another meaning need the operator.
export function filterParam(field, op = "eq") {
  const plain = op === "eq" && !/^(page|per_page|sort|order|search|api_key|_.*|.*\])$/.test(field);
  return plain ? field : `${field}[${op}]`;
}

// withFilter returns the query with another value for an operator of a field; empty values match missing ones.
export function withFilter(query, field, op, value) {
  if (value === "" && (op === "eq" || op === "ne")) {
    value = String(op === "eq");
    op = "empty";
  }
  if (op === "ne") query.append(filterParam(field, op), value); // given several times: none of them
  else query.set(filterParam(field, op), value);
  return query;
}

// withRange returns the query with another range for a field.
export function withRange(query, field, from, to, inclusive) {
  for (const op of ["gte", "gt", "lte", "lt"]) query.delete(filterParam(field, op));
  query.set(filterParam(field, "gte"), from);
  query.set(filterParam(field, inclusive ? "lte" : "lt"), to);
  return query;
}

// sorts returns the order of a query as terms, "-" for descending.
export function sorts(query) {
  const sort = query.get("sort") ?? "";
  if (!sort) return [];
  return query.has("order") ? [(query.get("order") === "desc" ? "-" : "") + sort] : sort.split(",");
}

// withSorts returns the query with an order.
export function withSorts(query, terms) {
  query.delete("order");
  query.delete("sort");
  if (terms.length === 1) {
    query.set("sort", terms[0].replace(/^-/, ""));
    if (terms[0].startsWith("-")) query.set("order", "desc");
  } else if (terms.length) query.set("sort", terms.join(","));
  return query;
}

// withWidth returns the query with another width of a column; 0: the default.
export function withWidth(query, field, pixels = 0) {
  const others = query.getAll("_width").filter((width) => width.replace(/:[^:]*$/, "") !== field);
  query.delete("_width");
  for (const width of pixels ? [...others, `${field}:${pixels}`] : others) query.append("_width", width);
  return query;
}

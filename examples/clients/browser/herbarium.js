// What the adapters share: the URL of a listing, and reading it.

// listingURL returns the URL of a page of a dataset, such as https://example.org/api/v1/garden/catalog. sort is a list such as
// ["category", "-price"]; filters is a list of [field, operator, value].
export function listingURL(dataset, { page = 1, perPage = 25, sort = [], search = "", filters = [], fields = [] }) {
  const query = new URLSearchParams({ page, per_page: perPage });
  if (sort.length) query.set("sort", sort.join(","));
  if (search) query.set("search", search);
  if (fields.length) query.set("_fields", fields.join(","));
  for (const [field, operator, value] of filters) query.append(`${field}[${operator}]`, value);
  return `${dataset}/data?${query}`;
}

// list reads a page. Errors have the message of the server, which says what would be valid.
export async function list(dataset, options, signal) {
  const response = await fetch(listingURL(dataset, options), { signal });
  const body = await response.json();
  if (!response.ok) throw new Error(body.message);
  return body;
}

// whileTyping makes the last word of a search a prefix, because it may be incomplete.
export function whileTyping(search) {
  return /[\p{L}\p{N}]$/u.test(search) ? search + "*" : search;
}

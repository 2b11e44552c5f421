import { listingURL } from "./herbarium.js";

const operators = { "=": "eq", "!=": "ne", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte", in: "in", starts: "prefix", like: "contains" };

const filter = ({ field, type, value }) => [field, operators[type], value];

// herbarium returns options of a Tabulator table that shows a dataset: paging, sorting by several columns and header filters
// are done by the server. new Tabulator("#table", { ...herbarium(dataset), columns })
export function herbarium(dataset) {
  return {
    ajaxURL: dataset,
    ajaxURLGenerator: (url, _config, params) =>
      listingURL(url, {
        page: params.page,
        perPage: params.size,
        sort: params.sort.map((s) => (s.dir === "desc" ? "-" : "") + s.field),
        filters: params.filter.map(filter),
      }),
    ajaxResponse: (_url, _params, { data, meta }) => ({ data, last_page: meta.total_pages, last_row: meta.total }),
    pagination: true,
    paginationMode: "remote",
    paginationSize: 25,
    sortMode: "remote",
    filterMode: "remote",
  };
}

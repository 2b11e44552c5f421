// The parameters of the calls, the same for all clients.

/** Filters of garden/catalog as values of _filter. */
export const filters = ["category=climber", "category=shrub", "price[gte]=10", "price[lt]=40"];

export const page = { page: 2, per_page: 3, sort: ["price" as const], order: "desc" as const, search: "rose*" };

export const sorted = { sort: ["category" as const, "-price" as const], per_page: 100 };

/** The same filters as parameters of garden/catalog. */
export const catalog = { category: ["climber", "shrub"], "price[gte]": ["10"], "price[lt]": ["40"] };

export const counted = { top: 3, buckets: 5, search: "rose*" };

export const grid = { _x: "id", _y: "price", _bounds: "0,0,600,100", _columns: 4, _rows: 3, _filter: filters };

export const groups = {
  _by: ["category", "date:weekday"], _measure: ["count", "mean:price", "stddev:price", "ratio:price/id"], _sort: "-count", _top: 5, _having: ["count[gte]=2"], _filter: filters,
};
export const buckets: { _by: string[]; _fill: "zero"; _measure: string[] } = { _by: ["price:10"], _fill: "zero", _measure: ["sum:price"] };

/** Filters of hostile/fields that all clients can send. */
export const portable = {
  "a-b": ["1", "4", "7"],
  "a-b[lte]": ["20"],
  "a.b": ["v1"],
  "a b": ["v1"],
  a_b: ["v1", "v2"],
  A: ["v1"],
  a: ["v1"],
  type: ["v1"],
  default: ["v1"],
  "1st": ["v1"],
  class: ["v1"],
  func: ["v1"],
  "-x": ["v1"],
  日本: ["v1"],
  get: ["v1"],
  "Größe(m)": ["v1"],
  "*/": ["v1"],
  price: ["v1"],
  "price[gte]": ["v1"],
  "price[gte][eq]": ["v1"],
  "page[eq]": ["v1"],
  "_fields[eq]": ["v1"],
  "default[empty]": false,
};

/** Filters by fields whose names are not parameters. */
export const others = ["🌵=v1", "x'y\"z=v1", "`=v1", "$ref=v1", "\\[prefix]=v", "a,b=v1", "a&b=v1", "-=v1", "__proto__=v1", "constructor=v1", "#=v1", "page=v1"];

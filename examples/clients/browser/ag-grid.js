import { list } from "./herbarium.js";

const operators = {
  equals: "eq", notEqual: "ne", lessThan: "lt", lessThanOrEqual: "lte", greaterThan: "gt", greaterThanOrEqual: "gte",
  startsWith: "prefix", contains: "contains",
};

function filtersOf(field, { type, filter, filterTo, dateFrom, dateTo }) {
  const from = filter ?? dateFrom?.slice(0, 10);
  switch (type) {
    case "blank":
      return [[field, "empty", "true"]];
    case "notBlank":
      return [[field, "empty", "false"]];
    case "inRange":
      return [[field, "gte", from], [field, "lte", filterTo ?? dateTo.slice(0, 10)]];
  }
  return [[field, operators[type], from]];
}

// The options of filters that the server supports; AG Grid offers more.
export const filterParams = { filterOptions: ["contains", "startsWith", "equals", "notEqual", "blank", "notBlank"], maxNumConditions: 1 };

// datasource returns a data source of the infinite row model. AG Grid loads blocks of rows while the user scrolls.
// createGrid(element, { rowModelType: "infinite", datasource: datasource(dataset), columnDefs })
export function datasource(dataset) {
  return {
    async getRows({ startRow, endRow, sortModel, filterModel, successCallback, failCallback }) {
      try {
        const perPage = endRow - startRow; // the block size, at most 100
        const { data, meta } = await list(dataset, {
          page: startRow / perPage + 1,
          perPage,
          sort: sortModel.map((s) => (s.sort === "desc" ? "-" : "") + s.colId),
          filters: Object.entries(filterModel).flatMap(([field, f]) => filtersOf(field, f)),
        });
        successCallback(data, meta.total);
      } catch (error) {
        console.error(error);
        failCallback();
      }
    },
  };
}

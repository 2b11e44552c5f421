import { list, whileTyping } from "./herbarium.js";

// herbarium returns options of a DataTables table that shows a dataset: paging, ordering by several columns and searching, in all
// columns or in one, are done by the server. new DataTable("#table", { ...herbarium(dataset), columns: [{ data: "title" }] })
export function herbarium(dataset) {
  let all; // number of rows without a search
  return {
    serverSide: true,
    async ajax({ draw, start, length, order, columns, search }, callback) {
      try {
        const { data, meta } = await list(dataset, {
          page: start / length + 1,
          perPage: length,
          sort: order.map(({ column, dir }) => (dir === "desc" ? "-" : "") + columns[column].data),
          search: whileTyping(search.value),
          filters: columns.filter((c) => c.search.value).map((c) => [c.data, "match", whileTyping(c.search.value)]),
        });
        all ??= (await list(dataset, { perPage: 1 })).meta.total;
        callback({ draw, data, recordsTotal: all, recordsFiltered: meta.total });
      } catch (error) {
        callback({ draw, data: [], recordsTotal: all ?? 0, recordsFiltered: 0, error: error.message });
      }
    },
  };
}

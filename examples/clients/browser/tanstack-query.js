import { list } from "./herbarium.js";

// pageOptions returns options of useQuery for a page of a dataset. The previous page stays visible while the next one loads.
// useQuery(pageOptions(dataset, { page, sort: ["-price"], search }))
export function pageOptions(dataset, options = {}) {
  return {
    queryKey: [dataset, options],
    queryFn: ({ signal }) => list(dataset, options, signal),
    placeholderData: (previous) => previous,
  };
}

// rowsOptions returns options of useInfiniteQuery for all rows of a dataset, a page at a time.
export function rowsOptions(dataset, options = {}) {
  return {
    queryKey: [dataset, "rows", options],
    queryFn: ({ pageParam, signal }) => list(dataset, { perPage: 100, ...options, page: pageParam }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ meta }) => (meta.has_next ? meta.page + 1 : undefined),
  };
}

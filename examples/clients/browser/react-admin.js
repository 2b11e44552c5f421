import { list, whileTyping } from "./herbarium.js";

// dataProvider returns a read-only data provider of react-admin for the datasets of a namespace; a resource is a dataset with a
// primary key. Filters are { field: value } or { "field[operator]": value }; q searches.
// <Admin dataProvider={dataProvider("https://example.org/api/v1/garden", { catalog: "id" })}>
export function dataProvider(namespace, keys) {
  const withID = (resource) => (record) => ({ ...record, id: record[keys[resource]] });

  async function getList(resource, { pagination = {}, sort, filter = {}, signal }) {
    const { q, ...others } = filter;
    const { data, meta } = await list(`${namespace}/${resource}`, {
      page: pagination.page,
      perPage: pagination.perPage,
      sort: sort?.field ? [(sort.order === "DESC" ? "-" : "") + sort.field] : [],
      search: q && whileTyping(q),
      filters: Object.entries(others).map(([name, value]) => {
        const [, field, operator] = name.match(/^(.*?)(?:\[(\w+)\])?$/);
        return [field, operator ?? "eq", value];
      }),
    }, signal);
    return { data: data.map(withID(resource)), total: meta.total };
  }

  async function getOne(resource, { id, signal }) {
    const response = await fetch(`${namespace}/${resource}/data/${encodeURIComponent(id)}`, { signal });
    const body = await response.json();
    if (!response.ok) throw new Error(body.message);
    return { data: withID(resource)(body) };
  }

  const readOnly = () => Promise.reject(new Error("published datasets are read-only"));
  return {
    getList,
    getOne,
    getMany: async (resource, { ids, signal }) => ({ data: (await Promise.all(ids.map((id) => getOne(resource, { id, signal })))).map((r) => r.data) }),
    getManyReference: (resource, { target, id, filter, ...rest }) => getList(resource, { ...rest, filter: { ...filter, [target]: id } }),
    create: readOnly, update: readOnly, updateMany: readOnly, delete: readOnly, deleteMany: readOnly,
  };
}

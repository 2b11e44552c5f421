// Calls with @hey-api/openapi-ts.
import * as api from "./generated/hey-api";
import { client } from "./generated/hey-api/client.gen";
import { buckets, catalog, counted, filters, grid, groups, others, page, portable, sorted } from "./queries";
import { file as plantsFile, publishingCalls, type Version } from "./publishing";
import { base64, type Calls } from "./result";

export function calls(baseUrl: string, key: string, id: number): Calls {
  client.setConfig({ baseUrl, auth: key, throwOnError: true });
  const body = async (response: Promise<{ data?: unknown }>) => (await response).data;
  const path = { namespace: "garden", dataset: "catalog" };
  const file = { _filter: filters, sort: page.sort };
  const plant = { id: [String(id)] };
  return {
    createPlant: () => body(api.createPlant({ body: { id, name: "Dog rose", tag: "shrub" } })),
    listRecords: () => body(api.listRecords({ path, query: { ...page, _filter: filters } })),
    exportCSV: () => body(api.exportCsv({ path, query: file })),
    exportNDJSON: async () => (await api.exportNdjson({ path, query: file, throwOnError: true })).data.text(),
    exportXLSX: async () => base64((await api.exportXlsx({ path, query: file, throwOnError: true })).data),
    exportGeoJSON: () => body(api.exportGeoJson({ path: { namespace: "hostile", dataset: "a_b" }, query: { sort: ["-x_y"] } })),
    getParquet: async () => base64((await api.getParquet({ path, throwOnError: true })).data),
    getRecord: () => body(api.getRecord({ path: { namespace: "store", dataset: "plants", key: String(id) } })),
    countValues: () => body(api.countValues({ path, query: { ...counted, field: ["category", "price"], _filter: filters } })),
    countInGrid: () => body(api.countInGrid({ path, query: grid })),
    aggregate: () => body(api.aggregate({ path, query: groups })),
    aggregateCSV: () => body(api.aggregateCsv({ path, query: buckets })),
    listDatasets: () => body(api.listDatasets({ query: { page: 1, per_page: 2 } })),
    searchRecords: () => body(api.searchRecords({ query: { search: "fern" } })),
    describeDataset: () => body(api.describeDataset({ path })),
    getOpenAPI: () => body(api.getOpenApi({ query: { dataset: "garden/catalog" } })),
    getDescriptorSchema: () => body(api.getDescriptorSchema()),
    getHealth: () => body(api.getHealth()),
    getReadiness: () => body(api.getReadiness()),
    list_garden_catalog: () => body(api.listGardenCatalog({ query: { ...page, ...catalog } })),
    "list_garden_catalog sorted": () => body(api.listGardenCatalog({ query: sorted })),
    facets_garden_catalog: () => body(api.facetsGardenCatalog({ query: { ...counted, ...catalog, field: ["category", "price"] } })),
    list_hostile_fields: () => body(api.listHostileFields({ query: { ...portable, sort: ["-x"] } })),
    "list_hostile_fields others": () => body(api.listHostileFields({ query: { _filter: others } })),
    facets_hostile_fields: () => body(api.facetsHostileFields({ query: { ...portable, _filter: others, field: ["🌵", "#"] } })),
    list_hostile_a_b: () => body(api.listHostileAB({ query: { "x-y": ["1"] } })),
    facets_hostile_a_b: () => body(api.facetsHostileAB({ query: { field: ["x-y"] } })),
    list_hostile_a_b_2: () => body(api.listHostileAB2({ query: { x_y: ["2"] } })),
    facets_hostile_a_b_2: () => body(api.facetsHostileAB2({ query: { field: ["x_y"] } })),
    list_store_plants: () => body(api.listStorePlants({ query: plant })),
    facets_store_plants: () => body(api.facetsStorePlants({ query: { ...plant, field: ["tag"] } })),
    ...publishing(),
  };
}

function publishing(): Calls {
  const path = { namespace: "sent", dataset: "hey-api" };
  const throwOnError = true;
  return publishingCalls({
    publishSource: async (content, Prefer) => (await api.publishSource({ path, body: plantsFile(content), headers: { Prefer }, throwOnError })).data,
    publishForm: async (content, descriptor) => (await api.publishForm({ path, body: { file: plantsFile(content), descriptor }, throwOnError })).data,
    changeSource: async (content) => (await api.changeSource({ path, query: { _mode: "append" }, body: plantsFile(content), throwOnError })).data,
    getSource: async () => (await api.getSource({ path, throwOnError })).data.text(),
    publishDescriptor: async (descriptor) => (await api.publishDescriptor({ path, body: descriptor, throwOnError })).data,
    getDescriptor: async () => (await api.getDescriptor({ path, throwOnError })).data,
    listVersions: async (): Promise<Version[]> => (await api.listVersions({ path, throwOnError })).data.versions,
    listChanges: async (_from) => (await api.listChanges({ path, query: { _from }, throwOnError })).data,
    exportChangesNDJSON: async (_from) => (await api.exportChangesNdjson({ path, query: { _from }, throwOnError })).data.text(),
    exportChangesCSV: async (_from) => (await api.exportChangesCsv({ path, query: { _from }, throwOnError })).data,
    getReport: async (_version) => (await api.getReport({ path, query: { _version }, throwOnError })).data,
    rollbackDataset: async (to) => (await api.rollbackDataset({ path, body: { to }, throwOnError })).data,
    getPublish: async (id) => (await api.getPublish({ path: { id }, throwOnError })).data,
    labelVersion: async (version, label) => (await api.labelVersion({ path: { ...path, version, label }, throwOnError })).data,
    unlabelVersion: (version, label) => api.unlabelVersion({ path: { ...path, version, label }, throwOnError }),
    withdrawVersion: (version, live) => api.withdrawVersion({ path: { ...path, version }, headers: { "If-Match": live }, throwOnError }),
    removeDataset: (live) => api.removeDataset({ path, headers: { "If-Match": live }, throwOnError }),
  });
}

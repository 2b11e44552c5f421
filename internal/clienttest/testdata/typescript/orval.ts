// Calls with orval.
import * as api from "./generated/orval";
import { buckets, catalog, counted, filters, grid, groups, others, page, portable, sorted } from "./queries";
import { file as plantsFile, publishingCalls } from "./publishing";
import { base64, type Calls } from "./result";

export function calls(key: string, id: number): Calls {
  const body = async (response: Promise<{ data: unknown; status: number }>) => {
    const { data, status } = await response;
    if (status !== 200) {
      throw new Error(JSON.stringify(data));
    }
    return data;
  };
  const file = { _filter: filters, sort: page.sort };
  const plant = { id: [String(id)] };
  return {
    createPlant: () =>
      body(api.createPlant({ id, name: "Dog rose", tag: "shrub" }, { headers: { Authorization: `Bearer ${key}` } })),
    listRecords: () => body(api.listRecords("garden", "catalog", { ...page, _filter: filters })),
    exportCSV: () => body(api.exportCSV("garden", "catalog", file)),
    exportNDJSON: async () => {
      const response = await api.exportNDJSON("garden", "catalog", file);
      return "stream" in response ? response.stream.text() : undefined;
    },
    exportXLSX: async () => base64((await body(api.exportXLSX("garden", "catalog", file))) as Blob),
    exportGeoJSON: () => body(api.exportGeoJSON("hostile", "a_b", { sort: ["-x_y"] })),
    getParquet: async () => base64((await body(api.getParquet("garden", "catalog"))) as Blob),
    getRecord: () => body(api.getRecord("store", "plants", String(id))),
    countValues: () => body(api.countValues("garden", "catalog", { ...counted, field: ["category", "price"], _filter: filters })),
    countInGrid: () => body(api.countInGrid("garden", "catalog", grid)),
    aggregate: () => body(api.aggregate("garden", "catalog", groups)),
    aggregateCSV: () => body(api.aggregateCSV("garden", "catalog", buckets)),
    listDatasets: () => body(api.listDatasets({ page: 1, per_page: 2 })),
    searchRecords: () => body(api.searchRecords({ search: "fern" })),
    describeDataset: () => body(api.describeDataset("garden", "catalog")),
    getOpenAPI: () => body(api.getOpenAPI({ dataset: "garden/catalog" })),
    getDescriptorSchema: () => body(api.getDescriptorSchema()),
    getHealth: () => body(api.getHealth()),
    getReadiness: () => body(api.getReadiness()),
    list_garden_catalog: () => body(api.listGardenCatalog({ ...page, ...catalog })),
    "list_garden_catalog sorted": () => body(api.listGardenCatalog(sorted)),
    facets_garden_catalog: () => body(api.facetsGardenCatalog({ ...counted, ...catalog, field: ["category", "price"] })),
    list_hostile_fields: () => body(api.listHostileFields({ ...portable, sort: ["-x"] })),
    "list_hostile_fields others": () => body(api.listHostileFields({ _filter: others })),
    facets_hostile_fields: () => body(api.facetsHostileFields({ ...portable, _filter: others, field: ["🌵", "#"] })),
    list_hostile_a_b: () => body(api.listHostileAB({ "x-y": ["1"] })),
    facets_hostile_a_b: () => body(api.facetsHostileAB({ field: ["x-y"] })),
    list_hostile_a_b_2: () => body(api.listHostileAB2({ x_y: ["2"] })),
    facets_hostile_a_b_2: () => body(api.facetsHostileAB2({ field: ["x_y"] })),
    list_store_plants: () => body(api.listStorePlants(plant)),
    facets_store_plants: () => body(api.facetsStorePlants({ ...plant, field: ["tag"] })),
    ...publishing(key),
  };
}

function publishing(key: string): Calls {
  const path = ["sent", "orval"] as const;
  const send = (headers: Record<string, string> = {}) => ({ headers: { "X-API-Key": key, ...headers } });
  // The type of a response has all statuses; data of a success is what remains without errors.
  async function body<R extends { data: unknown; status: number }>(response: Promise<R>): Promise<Exclude<R["data"], api.Error | void>> {
    const { data, status } = await response;
    if (status >= 300) {
      throw new Error(JSON.stringify(data));
    }
    return data as Exclude<R["data"], api.Error | void>;
  }
  return publishingCalls({
    publishSource: (content, Prefer) => body(api.publishSource(...path, plantsFile(content), undefined, send({ Prefer }))),
    publishForm: (content, descriptor) => body(api.publishForm(...path, { file: plantsFile(content), descriptor }, undefined, send())),
    changeSource: (content) => body(api.changeSource(...path, plantsFile(content), { _mode: "append" }, send())),
    getSource: async () => ((await body(api.getSource(...path, undefined, send()))) as Blob).text(),
    publishDescriptor: (descriptor) => body(api.publishDescriptor(...path, descriptor, undefined, send({ "Content-Type": "application/json" }))),
    getDescriptor: () => body(api.getDescriptor(...path, send())),
    listVersions: async () => (await body(api.listVersions(...path, send()))).versions,
    listChanges: (_from) => body(api.listChanges(...path, { _from }, send())),
    exportChangesNDJSON: async (_from) => {
      const response = await api.exportChangesNDJSON(...path, { _from }, send());
      return "stream" in response ? response.stream.text() : "";
    },
    exportChangesCSV: (_from) => body(api.exportChangesCSV(...path, { _from }, send())),
    getReport: (_version) => body(api.getReport(...path, { _version }, send())),
    rollbackDataset: (to) => body(api.rollbackDataset(...path, { to }, undefined, send())),
    getPublish: (id) => body(api.getPublish(id, send())),
    labelVersion: (version, label) => body(api.labelVersion(...path, version, label, send())),
    unlabelVersion: (version, label) => body(api.unlabelVersion(...path, version, label, send())),
    withdrawVersion: (version, live) => body(api.withdrawVersion(...path, version, send({ "If-Match": live }))),
    removeDataset: (live) => body(api.removeDataset(...path, send({ "If-Match": live }))),
  });
}

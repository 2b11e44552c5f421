// Calls with openapi-typescript and openapi-fetch.
import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi-typescript";
import { buckets, catalog, counted, filters, grid, groups, others, page, portable, sorted } from "./queries";
import { file as plantsFile, publishingCalls } from "./publishing";
import { base64, type Calls } from "./result";

export function calls(baseUrl: string, key: string, id: number): Calls {
  const client = createClient<paths>({ baseUrl });
  const body = async (response: Promise<{ data?: unknown; error?: unknown }>) => {
    const { data, error } = await response;
    if (error !== undefined) {
      throw new Error(JSON.stringify(error));
    }
    return data;
  };
  const path = { namespace: "garden", dataset: "catalog" };
  const file = { _filter: filters, sort: page.sort };
  const plant = { id: [String(id)] };
  return {
    createPlant: () =>
      body(client.POST("/plants", { headers: { Authorization: `Bearer ${key}` }, body: { id, name: "Dog rose", tag: "shrub" } })),
    listRecords: () => body(client.GET("/api/v1/{namespace}/{dataset}/data", { params: { path, query: { ...page, _filter: filters } } })),
    exportCSV: () =>
      body(client.GET("/api/v1/{namespace}/{dataset}/data.csv", { params: { path, query: file }, parseAs: "text" })),
    exportNDJSON: () =>
      body(client.GET("/api/v1/{namespace}/{dataset}/data.ndjson", { params: { path, query: file }, parseAs: "text" })),
    exportXLSX: async () => {
      const query = { params: { path, query: file }, parseAs: "blob" } as const;
      const { data } = await client.GET("/api/v1/{namespace}/{dataset}/data.xlsx", query);
      return base64(data!);
    },
    exportGeoJSON: () =>
      body(client.GET("/api/v1/{namespace}/{dataset}/data.geojson", { params: { path: { namespace: "hostile", dataset: "a_b" }, query: { sort: ["-x_y"] } } })),
    getParquet: async () => {
      const { data } = await client.GET("/api/v1/{namespace}/{dataset}/data.parquet", { params: { path }, parseAs: "blob" });
      return base64(data!);
    },
    getRecord: () =>
      body(client.GET("/api/v1/{namespace}/{dataset}/data/{key}", { params: { path: { namespace: "store", dataset: "plants", key: String(id) } } })),
    countValues: () =>
      body(client.GET("/api/v1/{namespace}/{dataset}/facets", { params: { path, query: { ...counted, field: ["category", "price"], _filter: filters } } })),
    countInGrid: () => body(client.GET("/api/v1/{namespace}/{dataset}/grid", { params: { path, query: grid } })),
    aggregate: () => body(client.GET("/api/v1/{namespace}/{dataset}/aggregate", { params: { path, query: groups } })),
    aggregateCSV: () => body(client.GET("/api/v1/{namespace}/{dataset}/aggregate.csv", { params: { path, query: buckets }, parseAs: "text" })),
    listDatasets: () => body(client.GET("/api/v1", { params: { query: { page: 1, per_page: 2 } } })),
    searchRecords: () => body(client.GET("/api/v1/search", { params: { query: { search: "fern" } } })),
    describeDataset: () => body(client.GET("/api/v1/{namespace}/{dataset}", { params: { path } })),
    getOpenAPI: () => body(client.GET("/openapi.json", { params: { query: { dataset: "garden/catalog" } } })),
    getDescriptorSchema: () => body(client.GET("/schemas/datapackage.json")),
    getHealth: () => body(client.GET("/healthz")),
    getReadiness: () => body(client.GET("/readyz")),
    list_garden_catalog: () => body(client.GET("/api/v1/garden/catalog/data", { params: { query: { ...page, ...catalog } } })),
    "list_garden_catalog sorted": () => {
      // The client repeats lists unless it is told otherwise.
      const querySerializer = { array: { style: "form", explode: false } } as const;
      return body(client.GET("/api/v1/garden/catalog/data", { params: { query: sorted }, querySerializer }));
    },
    facets_garden_catalog: () =>
      body(client.GET("/api/v1/garden/catalog/facets", { params: { query: { ...counted, ...catalog, field: ["category", "price"] } } })),
    list_hostile_fields: () => body(client.GET("/api/v1/hostile/fields/data", { params: { query: { ...portable, sort: ["-x"] } } })),
    "list_hostile_fields others": () => body(client.GET("/api/v1/hostile/fields/data", { params: { query: { _filter: others } } })),
    facets_hostile_fields: () =>
      body(client.GET("/api/v1/hostile/fields/facets", { params: { query: { ...portable, _filter: others, field: ["🌵", "#"] } } })),
    list_hostile_a_b: () => body(client.GET("/api/v1/hostile/a-b/data", { params: { query: { "x-y": ["1"] } } })),
    facets_hostile_a_b: () => body(client.GET("/api/v1/hostile/a-b/facets", { params: { query: { field: ["x-y"] } } })),
    list_hostile_a_b_2: () => body(client.GET("/api/v1/hostile/a_b/data", { params: { query: { x_y: ["2"] } } })),
    facets_hostile_a_b_2: () => body(client.GET("/api/v1/hostile/a_b/facets", { params: { query: { field: ["x_y"] } } })),
    list_store_plants: () => body(client.GET("/api/v1/store/plants/data", { params: { query: plant } })),
    facets_store_plants: () => body(client.GET("/api/v1/store/plants/facets", { params: { query: { ...plant, field: ["tag"] } } })),
    ...publishing(baseUrl, key),
  };
}

function publishing(baseUrl: string, key: string): Calls {
  const client = createClient<paths>({ baseUrl, headers: { "X-API-Key": key } });
  const path = { namespace: "sent", dataset: "openapi-fetch" };
  async function body<T>(response: Promise<{ data?: T; error?: unknown }>): Promise<T> {
    const { data, error } = await response;
    if (error !== undefined) {
      throw new Error(JSON.stringify(error));
    }
    return data as T;
  }
  const source = "/api/v1/{namespace}/{dataset}/source";
  const asFile = { headers: { "Content-Type": "application/octet-stream" }, bodySerializer: plantsFile };
  const asForm = (parts: object) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(parts)) {
      form.append(name, name === "file" ? plantsFile(value) : value);
    }
    return form;
  };
  return publishingCalls({
    publishSource: (content, Prefer) => body(client.PUT(source, { params: { path, header: { Prefer } }, body: content, ...asFile })),
    publishForm: (content, descriptor) => body(client.POST(source, { params: { path }, body: { file: content, descriptor }, bodySerializer: asForm })),
    changeSource: (content) => body(client.PATCH(source, { params: { path, query: { _mode: "append" } }, body: content, ...asFile })),
    getSource: () => body(client.GET(source, { params: { path }, parseAs: "text" })),
    publishDescriptor: (descriptor) => body(client.PUT("/api/v1/{namespace}/{dataset}/descriptor", { params: { path }, body: descriptor as Record<string, never> })),
    getDescriptor: () => body(client.GET("/api/v1/{namespace}/{dataset}/descriptor", { params: { path } })),
    listVersions: async () => (await body(client.GET("/api/v1/{namespace}/{dataset}/versions", { params: { path } }))).versions,
    listChanges: (_from) => body(client.GET("/api/v1/{namespace}/{dataset}/changes", { params: { path, query: { _from } } })),
    exportChangesNDJSON: (_from) => body(client.GET("/api/v1/{namespace}/{dataset}/changes.ndjson", { params: { path, query: { _from } }, parseAs: "text" })),
    exportChangesCSV: (_from) => body(client.GET("/api/v1/{namespace}/{dataset}/changes.csv", { params: { path, query: { _from } }, parseAs: "text" })),
    getReport: (_version) => body(client.GET("/api/v1/{namespace}/{dataset}/report", { params: { path, query: { _version } } })),
    rollbackDataset: (to) => body(client.POST("/api/v1/{namespace}/{dataset}/rollback", { params: { path }, body: { to } })),
    getPublish: (id) => body(client.GET("/api/v1/publishes/{id}", { params: { path: { id } } })),
    labelVersion: (version, label) => body(client.PUT("/api/v1/{namespace}/{dataset}/versions/{version}/labels/{label}", { params: { path: { ...path, version, label } } })),
    unlabelVersion: (version, label) => body(client.DELETE("/api/v1/{namespace}/{dataset}/versions/{version}/labels/{label}", { params: { path: { ...path, version, label } } })),
    withdrawVersion: (version, live) => body(client.DELETE("/api/v1/{namespace}/{dataset}/versions/{version}", { params: { path: { ...path, version }, header: { "If-Match": live } } })),
    removeDataset: (live) => body(client.DELETE("/api/v1/{namespace}/{dataset}", { params: { path, header: { "If-Match": live } } })),
  });
}

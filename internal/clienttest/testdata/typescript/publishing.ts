// The calls of publishing, the same for all clients. Bodies are reduced to what does not differ between runs.
import type { Calls } from "./result";

const header = "id,name\n";
const plants = header + "1,Rose\n2,Fern\n";

export interface Version {
  version: string;
  records: number;
  live: boolean;
}

/** The operations of one client about one dataset. */
export interface Publishing {
  publishSource(content: string, prefer: string): Promise<{ id?: string; status?: unknown; records?: number }>;
  publishForm(content: string, descriptor: string): Promise<{ status?: unknown; records?: number }>;
  changeSource(content: string): Promise<{ status?: unknown; records?: number }>;
  getSource(): Promise<string>;
  publishDescriptor(descriptor: Record<string, unknown>): Promise<{ status?: unknown; records?: number }>;
  getDescriptor(): Promise<unknown>;
  listVersions(): Promise<Version[]>;
  listChanges(_from: string): Promise<{ data: { op: string }[]; meta: { added: number } }>;
  exportChangesNDJSON(_from: string): Promise<string>;
  exportChangesCSV(_from: string): Promise<string>;
  getReport(version: string): Promise<{ report: { rows: number } }>;
  rollbackDataset(to: string): Promise<{ version: string }>;
  getPublish(id: string): Promise<{ state: string; status?: number }>;
  labelVersion(version: string, label: string): Promise<{ label: string }>;
  unlabelVersion(version: string, label: string): Promise<unknown>;
  withdrawVersion(version: string, live: string): Promise<unknown>;
  removeDataset(live: string): Promise<unknown>;
}

export function file(content: string): File {
  return new File([content], "plants.csv");
}

function describe(title: string) {
  return { resources: [{ path: "plants.csv", title, schema: { primaryKey: ["id"], fields: [{ name: "id" }, { name: "name" }] } }] };
}

export function publishingCalls(api: Publishing): Calls {
  const outcome = ({ status, records }: { status?: unknown; records?: number }) => ({ status, records });
  return {
    publishSource: async () => outcome(await api.publishSource(plants, "wait=60")),
    publishForm: async () => outcome(await api.publishForm(plants + "3,Moss\n", JSON.stringify(describe("Plants")))),
    changeSource: async () => outcome(await api.changeSource(header + "4,Ivy\n")),
    getSource: () => api.getSource(),
    getDescriptor: () => api.getDescriptor(),
    publishDescriptor: async () => outcome(await api.publishDescriptor(describe("All plants"))),
    listVersions: async () => (await api.listVersions()).map(({ records, live }) => ({ records, live })),
    listChanges: async () => {
      const { data, meta } = await api.listChanges((await api.listVersions())[2].version);
      return { ops: data.map(({ op }) => op), added: meta.added };
    },
    exportChangesNDJSON: async () => (await api.exportChangesNDJSON((await api.listVersions())[2].version)).split("\n").length,
    exportChangesCSV: async () => api.exportChangesCSV((await api.listVersions())[2].version),
    getReport: async () => (await api.getReport((await api.listVersions())[3].version)).report.rows,
    rollbackDataset: async () => {
      const to = (await api.listVersions())[2].version;
      return (await api.rollbackDataset(to)).version === to;
    },
    getPublish: async () => {
      let content = plants + "3,Moss\n";
      for (;;) {
        content += content.split("\n").length + ",Oak\n";
        const { id } = await api.publishSource(content, "respond-async");
        for (let state; id !== undefined; ) { // else it had ended already
          state = await api.getPublish(id);
          if (state.status !== undefined) {
            return state.state;
          }
        }
      }
    },
    labelVersion: async () => (await api.labelVersion((await api.listVersions()).slice(-1)[0].version, "2026-Q1")).label,
    unlabelVersion: async () => {
      await api.unlabelVersion("2026-Q1", "2026-Q1");
      return "removed";
    },
    withdrawVersion: async () => {
      await api.withdrawVersion((await api.listVersions()).slice(-1)[0].version, "*");
      return "withdrawn";
    },
    removeDataset: async () => {
      const live = (await api.listVersions()).find((v) => v.live);
      await api.removeDataset(`"${live?.version}"`);
      return "removed";
    },
  };
}

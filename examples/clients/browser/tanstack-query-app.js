// Two queries without a framework. npx esbuild --bundle --outfile=tanstack-query-bundle.js tanstack-query-app.js
import { InfiniteQueryObserver, QueryClient, QueryObserver } from "@tanstack/query-core";
import { pageOptions, rowsOptions } from "./tanstack-query.js";

const server = new URLSearchParams(location.search).get("server") ?? "http://127.0.0.1:8080";
const dataset = server + "/api/v1/garden/catalog";
const client = new QueryClient();
window.page = new QueryObserver(client, pageOptions(dataset, { sort: ["category", "-price"], search: "rose" }));
window.rows = new InfiniteQueryObserver(client, rowsOptions(dataset, { fields: ["id"] }));
window.page.subscribe(({ data }) => {
  if (!data) return;
  document.getElementById("total").textContent = data.meta.total;
  document.getElementById("rows").replaceChildren(...data.data.map((row) => Object.assign(document.createElement("li"), { textContent: row.title })));
});
window.show = (options) => window.page.setOptions(pageOptions(dataset, options));

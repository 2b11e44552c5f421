// A list of react-admin without its Material UI components: npx esbuild --bundle --outfile=react-admin-bundle.js react-admin-app.js
import { createElement as h } from "react";
import { createRoot } from "react-dom/client";
import { CoreAdminContext, ListBase, RecordsIterator, ShowBase, useListContext, useRecordContext } from "ra-core";
import { dataProvider } from "./react-admin.js";

const server = new URLSearchParams(location.search).get("server") ?? "http://127.0.0.1:8080";

function Total() {
  const { total, setFilters } = useListContext();
  return h("p", null, h("span", { id: "total" }, total), h("button", { onClick: () => setFilters({ q: "ros", category: "climber" }) }, "Climbing roses"));
}

function Title({ id }) {
  const record = useRecordContext();
  return record ? h(id ? "h1" : "li", { id }, record.title) : null;
}

createRoot(document.getElementById("app")).render(
  h(CoreAdminContext, { dataProvider: dataProvider(server + "/api/v1/garden", { catalog: "id" }) },
    h(ShowBase, { resource: "catalog", id: "430" }, h(Title, { id: "record" })),
    h(ListBase, { resource: "catalog", perPage: 10, sort: { field: "price", order: "DESC" } },
      h(Total), h("ol", { id: "rows" }, h(RecordsIterator, null, h(Title)))),
  ),
);

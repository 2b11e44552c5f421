// Measures queries in DuckDB with one thread over a Parquet file of the records of a CSV file.
//
// Standard input is {"csv": path, "parquet": path, "runs": n, "queries": [{"name", "sql"}]}, where the queries select from
// the table items. Standard output has a line {"name", "cpu": [milliseconds of each run], "rows": [[text]]} for each query.

import { existsSync } from "node:fs";
import { text } from "node:stream/consumers";

import { DuckDBInstance } from "@duckdb/node-api";

const { csv, parquet, runs, queries } = JSON.parse(await text(process.stdin));
const quoted = (path) => `'${path.replaceAll("'", "''")}'`;
const columns = {
  id: "BIGINT", title: "VARCHAR", description: "VARCHAR", category: "VARCHAR", status: "VARCHAR", date: "DATE",
  url: "VARCHAR", image: "VARCHAR", price: "DECIMAL(12,2)", author: "VARCHAR", tags: "VARCHAR",
};

const connection = await (await DuckDBInstance.create()).connect();
await connection.run("SET threads = 1");
if (!existsSync(parquet)) {
  await connection.run(`COPY (SELECT * FROM read_csv(${quoted(csv)}, header = true, columns = ${JSON.stringify(columns)}))
    TO ${quoted(parquet)} (FORMAT parquet)`);
}
await connection.run(`CREATE VIEW items AS SELECT * FROM read_parquet(${quoted(parquet)})`);

for (const { name, sql } of queries) {
  const cpu = [];
  let rows;
  for (let run = 0; run < runs; run++) {
    const before = process.cpuUsage();
    rows = (await connection.runAndReadAll(sql)).getRowsJson();
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1000);
  }
  console.log(JSON.stringify({ name, cpu, rows: rows.map((row) => row.map((value) => `${value ?? ""}`)) }));
}

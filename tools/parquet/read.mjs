// Reads Parquet files with readers that share no code with Herbarium.
//
//   node read.mjs duckdb FILE                 all records of a file, in native DuckDB
//   node read.mjs hyparquet URL [COLUMN...]   all records of a file on a server, which is read by ranges
//
// Standard output is {"columns": [[name, type]], "rows": [[value or null]], "bytes": n}, where bytes is what was transferred.

import { DuckDBInstance } from "@duckdb/node-api";
import { asyncBufferFromUrl, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

const [, , reader, source, ...columns] = process.argv;

async function duckdb() {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run("SET TimeZone = 'UTC'");
  const file = `'${source.replaceAll("'", "''")}'`;
  const described = (await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${file}`)).getRowsJson().map((row) => row.slice(0, 2));
  const casts = described.map(([name, type]) => {
    const column = `"${name.replaceAll('"', '""')}"`;
    return type.endsWith("[]") ? `to_json(${column})::VARCHAR` : `${column}::VARCHAR`;
  });
  const rows = (await connection.runAndReadAll(`SELECT ${casts.join(", ")} FROM ${file}`)).getRowsJson();
  return { columns: described, rows, bytes: 0 };
}

async function hyparquet() {
  let bytes = 0;
  const counted = async (url, init) => {
    const response = await fetch(url, init);
    if (init?.method !== "HEAD") {
      if (response.status !== 206) {
        throw new Error(`status ${response.status}`);
      }
      bytes += Number(response.headers.get("Content-Length"));
    }
    return response;
  };
  const file = await asyncBufferFromUrl({ url: source, fetch: counted });
  const metadata = await parquetMetadataAsync(file);
  const records = await parquetReadObjects({ file, metadata, compressors, columns: columns.length > 0 ? columns : undefined });
  const names = columns.length > 0 ? columns : metadata.schema.filter((node) => node.field_id).map((node) => node.name);
  const text = (value) => {
    if (value === null || value === undefined) {
      return null;
    }
    if (value instanceof Date) {
      return value.toISOString();
    }
    return Array.isArray(value) ? JSON.stringify(value) : String(value);
  };
  return { columns: names.map((name) => [name, ""]), rows: records.map((record) => names.map((name) => text(record[name]))), bytes };
}

console.log(JSON.stringify(await { duckdb, hyparquet }[reader]()));

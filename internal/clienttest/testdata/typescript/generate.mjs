// Generates clients of the server at the URL in the first argument, from openapi.json.
import { readFile, writeFile } from "node:fs/promises";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";
import { generate } from "orval";

const document = JSON.parse(await readFile("openapi.json", "utf8"));
await writeFile("generated/openapi-typescript.ts", astToString(await openapiTS(document)));
await createClient({
  input: "openapi.json",
  output: "generated/hey-api",
  plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"],
});
await generate({ input: "openapi.json", output: { target: "generated/orval.ts", client: "fetch", baseUrl: process.argv[2] } });

// Generates clients of the server at the URL in the first argument, from openapi.json, of some datasets from their own documents, and of one with types.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createClient } from "@hey-api/openapi-ts";
import openapiTS, { astToString } from "openapi-typescript";
import { generate } from "orval";

async function generateAll(input, folder) {
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/openapi-typescript.ts`, astToString(await openapiTS(JSON.parse(await readFile(input, "utf8")))));
  await createClient({
    input,
    output: `${folder}/hey-api`,
    plugins: ["@hey-api/client-fetch", "@hey-api/sdk", "@hey-api/typescript"],
  });
  await generate({ input, output: { target: `${folder}/orval.ts`, client: "fetch", baseUrl: process.argv[2] } });
}

await generateAll("openapi.json", "generated");
for (const name of ["catalog", "hostile", "plants"]) await generateAll(`${name}.json`, `generated/${name}`);

// With types, the document of a dataset has the types of its fields, which typed.ts uses.
const typed = await fetch(`${process.argv[2]}/openapi.json?dataset=garden/catalog&_typed=true`);
await writeFile("generated/typed.ts", astToString(await openapiTS(await typed.json())));

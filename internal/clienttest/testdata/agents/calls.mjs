// Calls tools with the official client, one after the other: node calls.mjs <url> [header=value …] < calls.json
// The input is a list of {tool, arguments}. The output is the names of the tools, and for each call its text,
// its structured content, and whether it is an error.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, ...headers] = process.argv.slice(2);
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: Object.fromEntries(headers.map((header) => header.split("="))) },
});
const client = new Client({ name: "herbarium-test", version: "1" });
await client.connect(transport);

let input = "";
for await (const chunk of process.stdin) input += chunk;

const { tools } = await client.listTools(); // the client compares structured content with the schemas from now on
const results = [];
for (const call of JSON.parse(input)) {
  const { content, structuredContent, isError } = await client.callTool({ name: call.tool, arguments: call.arguments });
  results.push({ text: content.map((part) => part.text).join(""), facts: structuredContent, failed: isError === true });
}
await client.close();
console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, results }));

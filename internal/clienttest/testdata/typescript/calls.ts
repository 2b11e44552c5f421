// Calls every operation with every client and prints one JSON line per call. Arguments: the URL of the server and a key.
import * as heyAPI from "./hey-api";
import * as openapiFetch from "./openapi-fetch";
import * as orval from "./orval";

declare const process: { argv: string[] };

const [url, key] = process.argv.slice(2);

async function run() {
  const clients = { "openapi-fetch": openapiFetch.calls(url, key, 1), "hey-api": heyAPI.calls(url, key, 2), orval: orval.calls(key, 3) };
  for (const [client, calls] of Object.entries(clients)) {
    for (const [call, send] of Object.entries(calls)) {
      try {
        console.log(JSON.stringify({ client, call, body: await send() }));
      } catch (error) {
        console.log(JSON.stringify({ client, call, error: String(error) }));
      }
    }
  }
}

void run();

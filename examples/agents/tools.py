#!/usr/bin/env python3
"""Call a tool of a Herbarium server: python3 tools.py query_records dataset=garden/catalog filters=category=tree

Without arguments, print the tools. HERBARIUM_URL is the address of the server, HERBARIUM_KEY a key.
"""
import json
import os
import sys
import urllib.request

url = os.environ.get("HERBARIUM_URL", "http://127.0.0.1:8080")


def send(method, params):
    """Send a message of the Model Context Protocol and return its result."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if "HERBARIUM_KEY" in os.environ:
        headers["Authorization"] = "Bearer " + os.environ["HERBARIUM_KEY"]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    with urllib.request.urlopen(urllib.request.Request(url + "/mcp", body.encode(), headers)) as response:
        message = json.load(response)
    if "error" in message:
        sys.exit(message["error"]["message"])
    return message["result"]


if len(sys.argv) < 2:
    for tool in send("tools/list", {})["tools"]:
        print(tool["name"] + ": " + tool["description"])
    sys.exit()

arguments = {}
for arg in sys.argv[2:]:  # a repeated name is a list
    name, value = arg.split("=", 1)
    arguments.setdefault(name, []).append(value)
arguments = {name: values[0] if len(values) == 1 else values for name, values in arguments.items()}
result = send("tools/call", {"name": sys.argv[1], "arguments": arguments})
for content in result["content"]:
    print(content["text"])
sys.exit(1 if result.get("isError") else 0)

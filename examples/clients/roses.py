"""Lists the prices and names of the fragrant roses page by page, cheapest first."""

import json
import os
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("HERBARIUM_URL", "http://127.0.0.1:8080")


def records(dataset, **query):
    """Yields all records of a query. A list as value repeats the parameter."""
    page = 1
    while True:
        params = urllib.parse.urlencode({**query, "page": page}, doseq=True)
        try:
            with urllib.request.urlopen(f"{URL}/api/v1/{dataset}/data?{params}") as response:
                listing = json.load(response)
        except urllib.error.HTTPError as error:
            raise SystemExit(json.load(error)["message"]) from None
        yield from listing["data"]
        if not listing["meta"]["has_next"]:
            return
        page += 1


for record in records("garden/catalog", search="rose", tags=["fragrant"], sort="price", per_page=4):
    print(record["price"], record["title"], sep="\t")

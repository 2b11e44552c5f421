"""Reads the prices and names of the fragrant roses into a data frame, cheapest first."""

import os
import sys
import urllib.parse

import pandas

URL = os.environ.get("HERBARIUM_URL", "http://127.0.0.1:8080")

query = urllib.parse.urlencode({"search": "rose", "tags": "fragrant", "sort": "price", "_fields": "price,title"})
# Values are text, such as 007. Convert the columns that you calculate with: frame["price"].astype(float)
frame = pandas.read_csv(f"{URL}/api/v1/garden/catalog/data.csv?{query}", dtype=str, keep_default_na=False)
frame.to_csv(sys.stdout, sep="\t", header=False, index=False)

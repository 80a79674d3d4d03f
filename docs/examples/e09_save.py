"""
Save and serve
==============

A model file holds arrays and text, no code: it can be loaded from people you do not
know. Served rows do not depend on the batch that they come in.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

import scqm

flowers = load_iris(as_frame=True).data
X = flowers.to_numpy()
model = scqm.SCQM(2).fit(X)

# %%
# Another process loads the file, and gets the same bits:

server = "import json, sys, scqm; model = scqm.load(sys.argv[1]);"
server += "print(model.transform(json.loads(sys.argv[2])).tobytes().hex())"
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "flowers.npz")
    model.save(path)
    print(sorted(np.load(path).files), f"{path.stat().st_size / 1000:.0f} KB")
    call = [sys.executable, "-c", server, str(path), json.dumps(X[:1].tolist())]
    served = subprocess.run(call, capture_output=True, text=True, check=True).stdout
print("same bits:", served.strip() == model.transform(X)[:1].tobytes().hex())

# %%
# A model of named columns refuses them in another order:

named = scqm.SCQM(2).fit(flowers)
try:
    named.transform(flowers[flowers.columns[::-1]])
except ValueError as error:
    print(str(error).splitlines()[0])

# %%
# How long does one row take?

times = []
for row in X:
    begin = time.perf_counter()
    model.transform(row[None])
    times.append(1000 * (time.perf_counter() - begin))
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.hist(times, 30)
ax.set(xlabel="milliseconds for a row", ylabel="rows")

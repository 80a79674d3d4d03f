"""
Picture: a plane to look at, and a page to send
===============================================

Thirteen measurements of 178 wines from three growers, on a sheet and beside it by
principal components; and a page with all that is known of the fit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scqm
from scqm import SCQM, plot

wine = load_wine(as_frame=True)
grower = np.array(["first", "second", "third"])[wine.target]
pipe = make_pipeline(StandardScaler(), SCQM(2)).fit(wine.data)

# %%
# Labels may be texts or numbers; pipelines and data frames will do.

plot.compare_pca(pipe, wine.data, grower)

# %%
# The page needs no network. It shows rows and what they are under the pointer, what the
# sheet does along each axis, outliers, and the rows that drive the fit; noise it calls
# noise.

with tempfile.TemporaryDirectory() as folder:
    page = scqm.report(pipe, wine.data, Path(folder, "wine.html"), labels=grower)
    print(page.name, f"{page.stat().st_size / 1000:.0f} KB")
plt.show()

# Completes rows by scikit-learn, one at a time. Reads one JSON document, writes one.
import json
import sys
import time

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401, makes the import below work
from sklearn.impute import IterativeImputer, KNNImputer

task = json.load(sys.stdin)
train = np.array(task["train"], dtype=float)
rows = np.array(task["rows"], dtype=float)  # null becomes nan


def sparse(full):
    """The rows and a tenth of them again with two cells only: the iterations are as many as those need."""
    some = full[:: 10].copy()
    random = np.random.RandomState(0)
    for row in some:
        row[random.permutation(len(row))[2:]] = np.nan
    return np.vstack([full, some])


answers = []
for name, imputer in (
    ("scikit-learn KNNImputer", KNNImputer(n_neighbors=10, weights="distance")),
    ("scikit-learn IterativeImputer", IterativeImputer(max_iter=10, random_state=0)),
):
    begun = time.perf_counter()
    imputer.fit(train if isinstance(imputer, KNNImputer) else sparse(train))
    fitted = time.perf_counter() - begun
    took, completed = [], []
    for row in rows:
        begun = time.perf_counter()
        completed.append(imputer.transform(row[None, :])[0].tolist())
        took.append(time.perf_counter() - begun)
    answers.append({"name": name, "fit_seconds": fitted, "seconds": took, "rows": completed})
json.dump(answers, sys.stdout)

# Completes rows by extremely randomised trees, a forest per question. Reads lines of JSON,
# each a training matrix that later lines refer to or one row, and answers each row.
import json
import sys

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor

TREES = 50
LEAST_ROWS = 3  # fewer teach nothing: the column mean stands

matrices = {}


def forest(inputs, targets):
    return ExtraTreesRegressor(n_estimators=TREES, random_state=0).fit(inputs, targets)


def complete(train, row):
    shown = ~np.isnan(row)
    known = ~np.isnan(train)
    answer = row.copy()
    usable = known[:, shown].all(axis=1) if shown.any() else np.zeros(len(train), dtype=bool)
    groups = {}  # columns that the same rows know have one forest
    for j in np.flatnonzero(~shown):
        groups.setdefault((usable & known[:, j]).tobytes(), []).append(j)
    for columns in groups.values():
        rows = usable & known[:, columns[0]]
        if rows.sum() >= LEAST_ROWS:
            model = forest(train[np.ix_(rows, shown)], train[np.ix_(rows, columns)].squeeze())
            answer[columns] = np.ravel(model.predict(row[None, shown]))
            continue
        for j in columns:
            if known[:, j].any():
                answer[j] = train[known[:, j], j].mean()
    return answer


for line in sys.stdin:
    ask = json.loads(line)
    if "train" in ask:
        matrices[ask["id"]] = np.array(ask["train"], dtype=float)
        continue
    answer = complete(matrices[ask["id"]], np.array(ask["row"], dtype=float))
    print(json.dumps([None if np.isnan(v) else v for v in answer.tolist()]), flush=True)

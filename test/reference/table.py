"""Writes table.csv and table.json: a table, and what scikit-learn makes of it.

Run as: python3 table.py. The pipeline is the one that the defaults for tables have: columns of
numbers divided by their standard deviation, columns of categories as they are, an intercept.
"""

import csv
import json
import platform

import numpy
import sklearn
from sklearn import metrics
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

generator = numpy.random.default_rng(20261119)
rows = 400
cities = ["Paris", "Rome", "Oslo", "Bonn", "Gouda", "Delft", "Siena", "Arles"]
income = generator.lognormal(10.5, 0.4, rows).round()
age = generator.integers(18, 80, rows)
share = generator.random(rows).round(3)
city = generator.choice(cities, rows, p=[0.3, 0.3, 0.2, 0.1, 0.05, 0.03, 0.01, 0.01])
plan = generator.choice(["basic", "plus", "family"], rows)
score = (
    (age - 50) / 15
    - (income - 40000) / 25000
    + 2 * (share - 0.5)
    + (plan == "basic")
    + generator.normal(size=rows)
)
positive = score > 1.3
with open("table.csv", "w", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["income", "age", "share", "city", "plan", "label"])
    labels = numpy.where(positive, "left", "stayed")
    writer.writerows(zip(income.astype(int), age, share, city, plan, labels))

table = numpy.array([income, age, share, city, plan], dtype=object).T
numbers = [0, 1, 2]
categories = [3, 4]
model = make_pipeline(
    ColumnTransformer([("n", StandardScaler(), numbers), ("c", OneHotEncoder(), categories)]),
    LogisticRegression(C=1, tol=1e-12, max_iter=100000, solver="newton-cholesky"),
)
model.fit(table, positive)
probabilities = model.predict_proba(table)[:, 1]
predicted = probabilities > 0.5

print(
    json.dumps(
        {
            "provenance": f"scikit-learn {sklearn.__version__}, numpy {numpy.__version__}, Python {platform.python_version()}, by table.py in this folder",
            "rate": positive.mean(),
            "error": 1 - metrics.accuracy_score(positive, predicted),
            "auc": metrics.roc_auc_score(positive, probabilities),
            "averagePrecision": metrics.average_precision_score(positive, probabilities),
            "logLoss": metrics.log_loss(positive, probabilities),
            "brier": metrics.brier_score_loss(positive, probabilities),
            "probabilities": probabilities.tolist(),
        },
        separators=(",", ":"),
    )
)

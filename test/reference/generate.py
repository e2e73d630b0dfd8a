"""Writes small.svm, regression.svm and stored.json: optima found by other programs.

Run with Python 3.11, scikit-learn 1.2.1, SciPy 1.10.1 and LIBLINEAR's `liblinear-train` on the
path:  python3 generate.py

Every value is that of P(w, b) = lambda * sum_j phi(w_j) + (1/m) * sum_i loss(<w, x_i> + b, y_i),
computed here from the weights the other program returned. Data are multiples of 1/64, so single
precision holds them exactly.
"""
import json
import os
import subprocess
import tempfile
import warnings

import numpy as np
import scipy
import sklearn
from scipy.optimize import linprog
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
)
from sklearn.svm import LinearSVC, LinearSVR

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, COLUMNS = 80, 10
SKLEARN = f"scikit-learn {sklearn.__version__}"
SCIPY = f"SciPy {scipy.__version__}"
LIBLINEAR = "LIBLINEAR 2.3.0 (Debian liblinear-tools 2.3.0+dfsg-5)"


def sixty_fourths(x):
    return np.round(np.asarray(x) * 64) / 64


def make_data():
    random = np.random.RandomState(2026)
    present = random.uniform(size=(ROWS, COLUMNS)) < 0.6
    x = sixty_fourths(random.normal(size=(ROWS, COLUMNS))) * present
    weights = random.normal(size=COLUMNS) * (np.arange(COLUMNS) % 3 != 2)
    score = x @ weights + 0.5
    labels = np.where(score + random.normal(size=ROWS) > 0, 1.0, -1.0)
    targets = sixty_fourths(score + 0.5 * random.standard_t(2, size=ROWS))
    return x, labels, targets


def write_svm(name, x, y):
    with open(os.path.join(HERE, name), "w") as file:
        for row, label in zip(x, y):
            pairs = [f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0]
            first = f"{label:+g}" if name == "small.svm" else repr(float(label))
            file.write(" ".join([first, *pairs]) + "\n")


def loss_values(name, parameter, u, y):
    if name == "hinge":
        return np.maximum(0, 1 - y * u)
    if name == "squared-hinge":
        return np.maximum(0, 1 - y * u) ** 2
    if name == "logistic":
        return np.logaddexp(0, -y * u)
    if name == "square":
        return 0.5 * (u - y) ** 2
    if name == "absolute":
        return np.maximum(0, np.abs(u - y) - parameter)
    raise ValueError(name)


def liblinear(data, options):
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        arguments = ["liblinear-train", *options.split(), os.path.join(HERE, data), model]
        subprocess.run(arguments, check=True, capture_output=True)
        with open(model) as file:
            lines = file.read().split("\n")
    weights = np.array([float(v) for v in lines[lines.index("w") + 1 :] if v.strip()])
    # LIBLINEAR's sign is that of the label it met first.
    first = next((line for line in lines if line.startswith("label ")), "label 1")
    return weights * (1 if float(first.split()[1]) > 0 else -1)


def linear_program(x, y, lam, intercept):
    """Hinge loss with L1: variables w+, w-, b+, b-, slacks."""
    m, n = x.shape
    offset = np.ones((m, 1)) if intercept else np.zeros((m, 0))
    b = offset.shape[1]
    cost = np.concatenate([np.full(2 * n, lam), np.zeros(2 * b), np.full(m, 1 / m)])
    signed = y[:, None] * np.hstack([x, -x, offset, -offset])
    result = linprog(cost, -np.hstack([signed, np.eye(m)]), -np.ones(m), method="highs")
    assert result.status == 0
    w = result.x[:n] - result.x[n : 2 * n]
    return w, float(result.x[2 * n] - result.x[2 * n + 1]) if intercept else 0.0


def collect(x, labels, targets):
    entries = []

    def add(data, loss, penalty, lam, weights, tool, call, intercept=None, parameter=None):
        l1, l2 = {"l2": (0, 1), "l1": (1, 0)}.get(penalty, (None, None))
        if l1 is None:
            l1 = float(penalty.split(":")[1])
            l2 = 1 - l1
        y = labels if data == "small.svm" else targets
        w = np.ravel(weights)
        u = x @ w + (intercept or 0.0)
        value = lam * (l1 * np.abs(w).sum() + 0.5 * l2 * (w @ w))
        value += loss_values(loss, parameter, u, y).mean()
        entries.append(
            {
                "data": data,
                "loss": {"name": loss, **({} if parameter is None else {"parameter": parameter})},
                "penalty": {"name": penalty.split(":")[0], "l1": l1, "l2": l2},
                "lambda": lam,
                "intercept": intercept is not None,
                "value": float(value),
                "weights": [float(v) for v in w],
                **({} if intercept is None else {"interceptValue": float(intercept)}),
                "tool": tool,
                "call": call,
            }
        )

    m = ROWS
    tight = {"tol": 1e-9, "max_iter": 10_000_000}

    for c in (1.0, 0.1):
        lam = 1 / (c * m)
        for loss, name in (("hinge", "hinge"), ("squared_hinge", "squared-hinge")):
            svc = LinearSVC(loss=loss, dual=True, C=c, fit_intercept=False, random_state=0, **tight)
            svc.fit(x, labels)
            call = f"LinearSVC(loss='{loss}', dual=True, C={c}, fit_intercept=False, tol=1e-9)"
            add("small.svm", name, "l2", lam, svc.coef_, SKLEARN, call)
        for penalty, solver in (("l2", "newton-cholesky"), ("l1", "saga")):
            for fit in (False, True):
                model = LogisticRegression(
                    penalty=penalty, C=c, fit_intercept=fit, solver=solver, random_state=0,
                    tol=1e-8, max_iter=200_000,
                ).fit(x, labels)
                call = (
                    f"LogisticRegression(penalty='{penalty}', C={c}, fit_intercept={fit}, "
                    f"solver='{solver}', tol=1e-8)"
                )
                offset = float(model.intercept_[0]) if fit else None
                add("small.svm", "logistic", penalty, lam, model.coef_, SKLEARN, call, offset)
        model = LogisticRegression(
            penalty="elasticnet", l1_ratio=0.3, C=c, fit_intercept=False, solver="saga",
            random_state=0, tol=1e-8, max_iter=200_000,
        ).fit(x, labels)
        call = (
            f"LogisticRegression(penalty='elasticnet', l1_ratio=0.3, C={c}, fit_intercept=False, "
            "solver='saga', tol=1e-8)"
        )
        add("small.svm", "logistic", "elastic-net:0.3", lam, model.coef_, SKLEARN, call)
        for loss, penalty, kind in (
            ("logistic", "l2", 7), ("squared-hinge", "l2", 1), ("hinge", "l2", 3),
            ("squared-hinge", "l1", 5), ("logistic", "l1", 6),
        ):
            options = f"-s {kind} -c {c} -e 1e-10 -B -1"
            weights = liblinear("small.svm", options)
            add("small.svm", loss, penalty, lam, weights, LIBLINEAR, f"liblinear-train {options}")
        options = f"-s 13 -c {c} -p 0.25 -e 1e-10 -B -1"
        weights = liblinear("regression.svm", options)
        call = f"liblinear-train {options}"
        add("regression.svm", "absolute", "l2", lam, weights, LIBLINEAR, call, parameter=0.25)
        svr = LinearSVR(
            loss="epsilon_insensitive", epsilon=0.0, C=c, fit_intercept=False, random_state=0, **tight
        ).fit(x, targets)
        call = f"LinearSVR(epsilon=0, C={c}, fit_intercept=False, tol=1e-9)"
        add("regression.svm", "absolute", "l2", lam, svr.coef_, SKLEARN, call, parameter=0.0)

    for alpha in (0.1, 0.01):
        for fit in (False, True):
            for cls, penalty, extra in (
                (Lasso, "l1", {}), (ElasticNet, "elastic-net:0.3", {"l1_ratio": 0.3}),
            ):
                model = cls(alpha=alpha, fit_intercept=fit, tol=1e-15, max_iter=1_000_000, **extra)
                model.fit(x, targets)
                ratio = "".join(f", {k}={v}" for k, v in extra.items())
                call = f"{cls.__name__}(alpha={alpha}{ratio}, fit_intercept={fit}, tol=1e-15)"
                offset = float(model.intercept_) if fit else None
                add("regression.svm", "square", penalty, alpha, model.coef_, SKLEARN, call, offset)
            model = Ridge(alpha=alpha * m, fit_intercept=fit, solver="cholesky").fit(x, targets)
            call = f"Ridge(alpha={alpha * m}, fit_intercept={fit}, solver='cholesky')"
            offset = float(model.intercept_) if fit else None
            add("regression.svm", "square", "l2", alpha, model.coef_, SKLEARN, call, offset)
            # The quantile loss at one half is |u - y| / 2.
            model = QuantileRegressor(
                quantile=0.5, alpha=alpha / 2, fit_intercept=fit, solver="highs"
            ).fit(x, targets)
            call = (
                f"QuantileRegressor(quantile=0.5, alpha={alpha / 2}, fit_intercept={fit}, "
                "solver='highs')"
            )
            offset = float(model.intercept_) if fit else None
            add("regression.svm", "absolute", "l1", alpha, model.coef_, SKLEARN, call, offset, 0.0)
            w, b = linear_program(x, labels, alpha, fit)
            call = "linprog(method='highs') on w = p - n, slacks"
            add("small.svm", "hinge", "l1", alpha, w, SCIPY, call, b if fit else None)
    return entries


def main():
    warnings.simplefilter("error")
    x, labels, targets = make_data()
    write_svm("small.svm", x, labels)
    write_svm("regression.svm", x, targets)
    entries = collect(x, labels, targets)
    with open(os.path.join(HERE, "stored.json"), "w") as file:
        json.dump(entries, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

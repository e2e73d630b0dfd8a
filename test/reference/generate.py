"""Writes the data of this folder and stored.json: optima found by other programs.

Run with Python 3.11, scikit-learn 1.2.1, SciPy 1.10.1, and LIBLINEAR's `liblinear-train` and R with glmnet 4.1.6
on the path (Debian: python3-sklearn, liblinear-tools, r-cran-glmnet):  python3 generate.py

Every value is that of P(w, b) = lambda * sum_j phi(w_j) + (1/m) * sum_i loss(<w, x_i> + b, y_i),
computed here from the weights the other program returned. Data are multiples of 1/64, so single
precision holds them exactly. `tolerance` is how far the value is above the optimum at most, relative
to it; the reference of this folder checks it. `nonzero` counts the weights that are not 0.
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
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from sklearn.svm import LinearSVC, LinearSVR

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, COLUMNS = 80, 10
WIDE_ROWS, WIDE_COLUMNS = 40, 60
CLASSES = ("small.svm", "wide.svm")
SKLEARN = f"scikit-learn {sklearn.__version__}"
SCIPY = f"SciPy {scipy.__version__}"
LIBLINEAR = "LIBLINEAR 2.3.0 (Debian liblinear-tools 2.3.0+dfsg-5)"
GLMNET = "glmnet 4.1.6 (Debian r-cran-glmnet 4.1-6-1)"
# Coordinate descent on the dual of losses that are not smooth ends this far above the optimum.
USUAL, TIGHT = 2e-8, 1e-9


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
    # Drawn on its own, so that the data above stays what it was.
    random = np.random.RandomState(16)
    counts = random.poisson(np.exp(0.4 * score)).astype(float)
    # More columns than rows, of scales from 1/4 to 4.
    wide = random.uniform(size=(WIDE_ROWS, WIDE_COLUMNS)) < 0.4
    scales = 2.0 ** random.randint(-2, 3, size=WIDE_COLUMNS)
    wide = sixty_fourths(random.normal(size=wide.shape)) * wide * scales
    sides = np.where(wide[:, ::9].sum(1) + random.normal(size=WIDE_ROWS) > 0, 1.0, -1.0)
    return {
        "small.svm": (x, labels),
        "regression.svm": (x, targets),
        "counts.svm": (x, counts),
        "wide.svm": (wide, sides),
    }


def write_svm(name, x, y):
    with open(os.path.join(HERE, name), "w") as file:
        for row, label in zip(x, y):
            pairs = [f"{j + 1}:{float(v)!r}" for j, v in enumerate(row) if v != 0]
            first = f"{label:+g}" if name in CLASSES else repr(float(label))
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
    if name == "squared-absolute":
        return np.maximum(0, np.abs(u - y) - parameter) ** 2
    if name == "huber":
        size = np.abs(u - y)
        return np.where(size < parameter, 0.5 * size**2, parameter * size - 0.5 * parameter**2)
    if name == "quantile":
        return np.maximum(parameter * (y - u), (1 - parameter) * (u - y))
    if name == "poisson":
        return np.exp(u) - y * u + np.where(y > 0, y * np.log(np.maximum(y, 1)) - y, 0)
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


def glmnet(x, y, options):
    """Weights and intercept; `options` are the arguments of glmnet behind x and y."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(os.path.join(folder, "x"), x, fmt="%.17g")
        np.savetxt(os.path.join(folder, "y"), y, fmt="%.17g")
        code = (
            "suppressMessages(library(glmnet)); x <- as.matrix(read.table('x')); y <- scan('y', quiet = TRUE); "
            f"fit <- glmnet(x, y, {options}, standardize = FALSE, thresh = 1e-15, maxit = 1e6); "
            "cat(sprintf('%.17g', c(as.vector(fit$beta), fit$a0)))"
        )
        result = subprocess.run(
            ["Rscript", "-e", code], cwd=folder, check=True, capture_output=True, text=True
        )
    values = [float(v) for v in result.stdout.split()]
    return np.array(values[:-1]), values[-1]


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


class Entries(list):
    """What goes to stored.json."""

    def __init__(self, data):
        super().__init__()
        self.data = data

    def add(
        self, data, loss, penalty, lam, weights, tool, call, intercept=None, parameter=None,
        tolerance=USUAL,
    ):
        l1, l2 = {"l2": (0, 1), "l1": (1, 0)}.get(penalty, (None, None))
        if l1 is None:
            l1 = float(penalty.split(":")[1])
            l2 = 1 - l1
        x, y = self.data[data]
        w = np.ravel(weights)
        u = x @ w + (intercept or 0.0)
        value = lam * (l1 * np.abs(w).sum() + 0.5 * l2 * (w @ w))
        value += loss_values(loss, parameter, u, y).mean()
        self.append(
            {
                "data": data,
                "loss": {"name": loss, **({} if parameter is None else {"parameter": parameter})},
                "penalty": {"name": penalty.split(":")[0], "l1": l1, "l2": l2},
                "lambda": lam,
                "intercept": intercept is not None,
                "value": float(value),
                "tolerance": tolerance,
                "nonzero": int(np.count_nonzero(w)),
                "weights": [float(v) for v in w],
                **({} if intercept is None else {"interceptValue": float(intercept)}),
                "tool": tool,
                "call": call,
            }
        )


def collect(entries):
    add = entries.add
    (x, labels), (_, targets) = entries.data["small.svm"], entries.data["regression.svm"]
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


def collect_liblinear(entries):
    """The solvers of LIBLINEAR that are not above, and all of its L1 on more columns than rows."""
    for c in (1.0, 0.1):
        lam = 1 / (c * ROWS)
        for loss, kind in (("logistic", 0), ("squared-hinge", 2)):
            options = f"-s {kind} -c {c} -e 1e-10 -B -1"
            weights = liblinear("small.svm", options)
            call = f"liblinear-train {options}"
            entries.add("small.svm", loss, "l2", lam, weights, LIBLINEAR, call, tolerance=TIGHT)
        for kind in (11, 12):
            options = f"-s {kind} -c {c} -p 0.25 -e 1e-10 -B -1"
            weights = liblinear("regression.svm", options)
            call = f"liblinear-train {options}"
            entries.add(
                "regression.svm", "squared-absolute", "l2", lam, weights, LIBLINEAR, call, None, 0.25
            )
    # With a larger C its L1 solvers stop at their limit of iterations.
    for c in (0.1, 0.02):
        lam = 1 / (c * WIDE_ROWS)
        for loss, penalty, kind in (
            ("logistic", "l2", 0), ("squared-hinge", "l2", 2), ("hinge", "l2", 3),
            ("squared-hinge", "l1", 5), ("logistic", "l1", 6),
        ):
            options = f"-s {kind} -c {c} -e 1e-10 -B -1"
            weights = liblinear("wide.svm", options)
            call = f"liblinear-train {options}"
            entries.add("wide.svm", loss, penalty, lam, weights, LIBLINEAR, call)


def collect_glmnet(entries):
    for data, loss, family in (
        ("regression.svm", "square", "gaussian"),
        ("small.svm", "logistic", "binomial"),
        ("wide.svm", "logistic", "binomial"),
        ("counts.svm", "poisson", "poisson"),
    ):
        x, y = entries.data[data]
        for lam in (0.1, 0.01):
            for penalty, alpha in (("l1", 1), ("elastic-net:0.3", 0.3)):
                for fit in ("FALSE", "TRUE"):
                    options = f"'{family}', alpha = {alpha}, lambda = {lam}, intercept = {fit}"
                    weights, offset = glmnet(x, y, options)
                    share = lam, penalty
                    if family == "gaussian" and alpha < 1:
                        # It scales the labels to length 1, which divides the quadratic part by their scale.
                        scale = y.std() if fit == "TRUE" else np.sqrt(np.mean(y**2))
                        total = lam * (alpha + (1 - alpha) / scale)
                        share = float(total), f"elastic-net:{lam * alpha / total!r}"
                    call = f"glmnet(x, y, {options}, standardize = FALSE, thresh = 1e-15)"
                    entries.add(
                        data, loss, share[1], share[0], weights, GLMNET, call,
                        offset if fit == "TRUE" else None,
                    )


def collect_regression(entries):
    """scikit-learn's models of regression that are not above."""
    x, targets = entries.data["regression.svm"]
    _, counts = entries.data["counts.svm"]
    for alpha in (0.1, 0.01):
        for fit in (False, True):
            name = f"PoissonRegressor(alpha={alpha}, fit_intercept={fit}, solver='newton-cholesky', tol=1e-10)"
            model = PoissonRegressor(
                alpha=alpha, fit_intercept=fit, solver="newton-cholesky", tol=1e-10, max_iter=1000
            ).fit(x, counts)
            offset = float(model.intercept_) if fit else None
            entries.add("counts.svm", "poisson", "l2", alpha, model.coef_, SKLEARN, name, offset)
            call = f"QuantileRegressor(quantile=0.8, alpha={alpha}, fit_intercept={fit}, solver='highs')"
            model = QuantileRegressor(
                quantile=0.8, alpha=alpha, fit_intercept=fit, solver="highs"
            ).fit(x, targets)
            offset = float(model.intercept_) if fit else None
            entries.add(
                "regression.svm", "quantile", "l1", alpha, model.coef_, SKLEARN, call, offset, 0.8
            )
            # At the scale sigma that it finds, its P is ours for delta = epsilon sigma and
            # lambda = alpha sigma / m, times m times 2 / sigma.
            call = f"HuberRegressor(epsilon=1.35, alpha={alpha * ROWS}, fit_intercept={fit}, tol=1e-10)"
            model = HuberRegressor(
                epsilon=1.35, alpha=alpha * ROWS, fit_intercept=fit, tol=1e-10, max_iter=100_000
            ).fit(x, targets)
            offset = float(model.intercept_) if fit else None
            lam, delta = alpha * float(model.scale_), 1.35 * float(model.scale_)
            entries.add(
                "regression.svm", "huber", "l2", lam, model.coef_, SKLEARN, call, offset, delta
            )


def main():
    warnings.simplefilter("error")
    data = make_data()
    for name, (x, y) in data.items():
        write_svm(name, x, y)
    entries = Entries(data)
    collect(entries)
    collect_liblinear(entries)
    collect_regression(entries)
    collect_glmnet(entries)
    with open(os.path.join(HERE, "stored.json"), "w") as file:
        json.dump(entries, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()

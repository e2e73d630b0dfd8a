"""Fits scikit-learn's models on data in memory, one per line of requests.

    python3 scikit_learn.py DATA.svm

A request is a line of JSON on standard input: {"solver", "form", "lambda", "tol", "limit", "rounds"}, where
`solver` is a key of `solvers` and `form` is `dense` or `sparse`. The answer is a line with `seconds` (the least of the
rounds) and `weights`, or with `missed`: why there is none. Every fit runs in a process of its own, which shares
the data and is ended at the limit.
"""
import json
import multiprocessing
import sys
import time
import warnings

import numpy as np
import scipy.optimize  # noqa: F401 - loaded here and not in a fit
import scipy.sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Lasso, LassoLars, LogisticRegression, QuantileRegressor
from sklearn.svm import LinearSVC

MANY = 1_000_000


def logistic(penalty, solver):
    def make(lam, tol, rows):
        return LogisticRegression(
            penalty=penalty, C=1 / (lam * rows), solver=solver, tol=tol, max_iter=MANY,
            fit_intercept=False, random_state=0,
        )

    return make


def hinge(lam, tol, rows):
    return LinearSVC(
        loss="hinge", dual=True, C=1 / (lam * rows), tol=tol, max_iter=MANY, fit_intercept=False,
        random_state=0,
    )


def lasso(**options):
    return lambda lam, tol, rows: Lasso(
        alpha=lam, tol=tol, max_iter=MANY, fit_intercept=False, **options
    )


def lars(lam, tol, rows):
    return LassoLars(alpha=lam, max_iter=MANY, fit_intercept=False, normalize=False)


def quantile(solver):
    return lambda lam, tol, rows: QuantileRegressor(
        quantile=0.5, alpha=lam, solver=solver, fit_intercept=False
    )


solvers = {
    **{
        f"{penalty} {name}": logistic(penalty, name)
        for penalty, names in (
            ("l2", ("lbfgs", "newton-cg", "newton-cholesky", "liblinear", "sag", "saga")),
            ("l1", ("liblinear", "saga")),
        )
        for name in names
    },
    "LinearSVC": hinge,
    "Lasso": lasso(),
    "Lasso precompute": lasso(precompute=True),
    "Lasso random": lasso(selection="random", random_state=0),
    "LassoLars": lars,
    **{f"QuantileRegressor {name}": quantile(name) for name in ("highs", "highs-ds", "highs-ipm")},
}


def fit(request, x, y, connection):
    warnings.simplefilter("ignore")
    best = float("inf")
    try:
        for _ in range(request["rounds"]):
            model = solvers[request["solver"]](request["lambda"], request["tol"], x.shape[0])
            start = time.perf_counter()
            model.fit(x, y)
            best = min(best, time.perf_counter() - start)
        connection.send({"seconds": best, "weights": np.ravel(model.coef_).tolist()})
    except Exception as error:  # what a solver cannot do is an answer
        connection.send({"missed": str(error)})


def answer(request, x, y):
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=fit, args=(request, x, y, sending))
    process.start()
    sending.close()
    try:
        if not receiving.poll(request["limit"] * request["rounds"] + 1):
            return {"missed": f"more than {request['limit']} s"}
        return receiving.recv()
    except EOFError:
        return {"missed": "its process has ended"}
    finally:
        process.kill()
        process.join()


def main():
    sparse, y = load_svmlight_file(sys.argv[1])
    # Each model gets the layout that it would otherwise copy the data to.
    dense = sparse.toarray()
    forms = {
        "sparse": lambda name: sparse.tocsc() if name.startswith("Lasso") else sparse,
        "dense": lambda name: np.asfortranarray(dense) if name.startswith("Lasso") else dense,
    }
    for line in sys.stdin:
        request = json.loads(line)
        data = forms[request["form"]](request["solver"])
        print(json.dumps(answer(request, data, y)), flush=True)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()

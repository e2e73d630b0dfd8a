"""Writes metrics.json: what scikit-learn says about fixed scores and labels.

Run as: python3 metrics.py > metrics.json. The scores are multiples of 1/8, so that float32 holds
them exactly and many of them are tied.
"""

import json
import platform

import numpy
import sklearn
from sklearn import metrics

generator = numpy.random.default_rng(20240607)


def curves(labels, probabilities):
    precision, recall, _ = metrics.precision_recall_curve(labels, probabilities, pos_label=1)
    false, true, _ = metrics.roc_curve(labels, probabilities, pos_label=1, drop_intermediate=False)
    some = precision + recall > 0
    f1 = 2 * precision[some] * recall[some] / (precision[some] + recall[some])
    return {
        "roc": [list(point) for point in zip(false, true)],
        # From the highest threshold down, without the point of none.
        "precisionRecall": [list(point) for point in zip(recall[-2::-1], precision[-2::-1])],
        "bestF1": f1.max(),
        "mostRecall": recall[precision >= 0.8].max(),
        "mostPrecision": precision[recall >= 0.6].max(),
    }


def classification(name, rows, spread, positive_part):
    labels = numpy.where(generator.random(rows) < positive_part, 1, -1)
    scores = numpy.round((generator.normal(size=rows) * spread + 0.7 * labels) * 8) / 8
    predicted = numpy.where(scores > 0, 1, -1)
    probabilities = 1 / (1 + numpy.exp(-scores))
    matrix = metrics.confusion_matrix(labels, predicted, labels=[-1, 1])
    return {
        "name": name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "accuracy": metrics.accuracy_score(labels, predicted),
        "precision": metrics.precision_score(labels, predicted),
        "recall": metrics.recall_score(labels, predicted),
        "f1": metrics.f1_score(labels, predicted),
        "specificity": metrics.recall_score(labels, predicted, pos_label=-1),
        "mcc": metrics.matthews_corrcoef(labels, predicted),
        "brier": metrics.brier_score_loss(labels, probabilities, pos_label=1),
        "curves": curves(labels, probabilities),
        "auc": metrics.roc_auc_score(labels, scores),
        "auprc": metrics.average_precision_score(labels, scores),
        "logLoss": metrics.log_loss(labels, probabilities, labels=[-1, 1]),
        "confusion": {
            "trueNegative": int(matrix[0, 0]),
            "falsePositive": int(matrix[0, 1]),
            "falseNegative": int(matrix[1, 0]),
            "truePositive": int(matrix[1, 1]),
        },
    }


def regression(name, rows, offset):
    labels = numpy.round(generator.normal(size=rows) * 3, 3) + offset
    scores = numpy.round((labels + generator.normal(size=rows)) * 8) / 8
    return {
        "name": name,
        "scores": scores.tolist(),
        "labels": labels.tolist(),
        "mse": metrics.mean_squared_error(labels, scores),
        "mae": metrics.mean_absolute_error(labels, scores),
        "r2": metrics.r2_score(labels, scores),
    }


print(
    json.dumps(
        {
            "provenance": f"scikit-learn {sklearn.__version__}, numpy {numpy.__version__}, "
            f"Python {platform.python_version()}, by metrics.py in this folder",
            "classification": [
                classification("balanced", 60, 1.0, 0.5),
                classification("few positives", 120, 1.5, 0.1),
                classification("almost separated", 40, 0.2, 0.5),
                classification("wide scores", 40, 3.0, 0.5),
            ],
            "regression": [regression("centred", 50, 0), regression("far from zero", 50, 1000)],
        },
        separators=(",", ":"),
    )
)

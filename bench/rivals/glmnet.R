# A path of glmnet on data in memory: reads a matrix in compressed sparse row form, fits once, prints
# the seconds of the fit and writes the weights, one vector after the other.
#
#   Rscript glmnet.R FOLDER FAMILY
#
# FOLDER: shape (int32: rows, columns, entries, lambdas), offsets, indices (int32), values, labels,
# lambdas (float64); weights (float64) is written.
suppressMessages(library(Matrix))
suppressMessages(library(glmnet))
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
of <- function(name, what, count, size) {
  readBin(file.path(folder, name), what, n = count, size = size, endian = "little")
}
shape <- of("shape", "integer", 4, 4)
x <- sparseMatrix(
  p = of("offsets", "integer", shape[1] + 1, 4),
  j = of("indices", "integer", shape[3], 4) + 1,
  x = of("values", "double", shape[3], 8),
  dims = shape[1:2]
)
x <- as(x, "CsparseMatrix")
y <- of("labels", "double", shape[1], 8)
if (arguments[2] == "binomial") y <- factor(y)
lambdas <- of("lambdas", "double", shape[4], 8)
# elapsed: glmnet has one thread.
seconds <- system.time(
  fit <- glmnet(x, y, family = arguments[2], lambda = lambdas, standardize = FALSE, intercept = FALSE)
)[["elapsed"]]
writeBin(as.vector(as.matrix(fit$beta)), file.path(folder, "weights"), size = 8, endian = "little")
cat(seconds, "\n")

/*
 * The hot loops of the folder assembly in C: what the WebAssembly kernels are measured against.
 *
 *   kernels IMAGE BYTES STATE < commands
 *
 * IMAGE is a dump of the memory that the other side works on, BYTES long; from STATE on it is
 * written to by kernels, and put back before every pass. First come lines that say where the
 * arrays are and what the numbers are, then commands, each answered by one line:
 *
 *   array NAME ADDRESS
 *   number NAME VALUE
 *   run KERNEL PASSES      answers the seconds that the passes took together
 *   save PATH              writes the state after the last pass; answers "saved"
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define INLINE static inline __attribute__((always_inline))

static char *memory, *initial;
static size_t bytes, state;

/* One list of names makes the structure and the table that the manifest is looked up in. */
#define ARRAYS(of)                                                                              \
  of(int32_t, rowOffsets) of(int32_t, rowIndices) of(float, rowValues) of(int32_t, rowOrder)    \
  of(int32_t, columnOffsets) of(int32_t, columnIndices) of(float, columnValues)                 \
  of(int32_t, columnOrder) of(double, rowDeltas) of(double, columnDeltas)                       \
  of(double, labels) of(double, rowWeights) of(double, norms) of(double, collisions)            \
  of(int32_t, counts)                                                                           \
  of(double, inverseCounts) of(double, low) of(double, high) of(double, snapshot)               \
  of(double, snapshotGradient) of(double, density) of(double, alpha) of(double, accumulators)   \
  of(uint8_t, level) of(uint8_t, skip) of(double, stats) of(double, margins) of(double, slopes) \
  of(double, curvatures) of(uint8_t, dirty) of(double, weights) of(double, lines)               \
  of(double, gradients) of(double, hessians)

#define NUMBERS(of)                                                                             \
  of(rows) of(columns) of(inverseTotalWeight) of(damping) of(deltaScale) of(shrink)             \
  of(weightStep) of(alphaStep) of(weightRate) of(alphaRate) of(l1) of(l2)

#define FIELD(type, name) type *name;
#define NUMBER(name) double name;
static struct { ARRAYS(FIELD) NUMBERS(NUMBER) } the;

INLINE double clamp(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

INLINE double sign(double w) { return (w > 0) - (w < 0); }

INLINE double conjugateDerivative(int logistic, double s, double y) {
  if (!logistic) return y;
  double beta = -y * s;
  if (beta < 1e-300) beta = 1e-300;
  if (beta > 0.9999999999999999) beta = 0.9999999999999999;
  return -y * log(beta / (1 - beta));
}

INLINE double hingeDualStep(double alpha, double u, double q, double y) {
  double pull = 1 - y * u + q * (y * alpha);
  return pull > 0 ? y * clamp(pull / q, 0, 1) : 0;
}

/* assembly/saddle.ts */
INLINE void saddle(int logistic, int adagrad, int svrg, double weightStep, double alphaStep) {
  const int32_t *indices = the.rowIndices;
  const float *values = the.rowValues;
  const double inverseTotalWeight = the.inverseTotalWeight, l1 = the.l1, l2 = the.l2;
  for (int position = 0; position < (int)the.rows; position++) {
    const int i = the.rowOrder[position];
    const double y = the.labels[i], share = the.inverseCounts[i];
    const double low = the.low[i], high = the.high[i];
    const double alpha0 = the.snapshot[i], gradient0 = the.snapshotGradient[i];
    const double slope0 = svrg ? conjugateDerivative(logistic, -alpha0, y) : 0;
    double alpha = the.alpha[i], accumulator = the.accumulators[i];
    const int last = the.rowOffsets[i + 1];
    for (int k = the.rowOffsets[i]; k < last; k++) {
      double *line = the.lines + 8 * (size_t)indices[k];
      const double x = values[k] * inverseTotalWeight;
      const double w = line[0];
      const double slope = conjugateDerivative(logistic, -alpha, y);
      double weightGradient, alphaGradient;
      if (svrg) {
        const double w0 = line[3];
        weightGradient = (l1 * (sign(w) - sign(w0)) + l2 * (w - w0)) * line[2] -
                         (alpha - alpha0) * x + line[4];
        alphaGradient = (slope - slope0) * share - (w - w0) * x + gradient0;
      } else {
        weightGradient = (l1 * sign(w) + l2 * w) * line[2] - alpha * x;
        alphaGradient = slope * share - w * x;
      }
      double weightMove = weightStep * weightGradient;
      double alphaMove = alphaStep * alphaGradient;
      if (adagrad) {
        const double squares = line[1] + weightGradient * weightGradient;
        line[1] = squares;
        accumulator += alphaGradient * alphaGradient;
        weightMove = squares > 0 ? weightMove / sqrt(squares) : 0;
        alphaMove = accumulator > 0 ? alphaMove / sqrt(accumulator) : 0;
      }
      line[0] = clamp(w - weightMove, line[5], line[6]);
      alpha = clamp(alpha + alphaMove, low, high);
    }
    the.alpha[i] = alpha;
    the.accumulators[i] = accumulator;
  }
}

static void saddleHinge(void) { saddle(0, 0, 0, the.weightRate, the.alphaRate); }
static void saddleHingeAdagrad(void) { saddle(0, 1, 0, the.weightStep, the.alphaStep); }
static void saddleHingeSvrg(void) { saddle(0, 1, 1, the.weightStep, the.alphaStep); }
static void saddleLogistic(void) { saddle(1, 0, 0, the.weightRate, the.alphaRate); }
static void saddleLogisticAdagrad(void) { saddle(1, 1, 0, the.weightStep, the.alphaStep); }
static void saddleLogisticSvrg(void) { saddle(1, 1, 1, the.weightStep, the.alphaStep); }

/* assembly/rows.ts */
INLINE double dot(int first, int last, const double *weights) {
  const int32_t *indices = the.rowIndices;
  const float *values = the.rowValues;
  double u = 0;
  for (int k = first; k < last; k++) u += weights[indices[k]] * values[k];
  return u;
}

INLINE void update(int first, int last, double *target, double delta) {
  const int32_t *indices = the.rowIndices;
  const float *values = the.rowValues;
  for (int k = first; k < last; k++) target[indices[k]] += delta * values[k];
}

static void gather(void) {
  for (int position = 0; position < (int)the.rows; position++) {
    const int i = the.rowOrder[position];
    the.margins[i] = dot(the.rowOffsets[i], the.rowOffsets[i + 1], the.weights);
  }
}

static void scatter(void) {
  for (int position = 0; position < (int)the.rows; position++) {
    const int i = the.rowOrder[position];
    update(the.rowOffsets[i], the.rowOffsets[i + 1], the.weights, the.rowDeltas[position]);
  }
}

INLINE double stepHingeRow(int i, double u) {
  const double y = the.labels[i], alpha = the.alpha[i];
  const double q = (the.norms[i] + the.damping * the.collisions[i]) * the.inverseTotalWeight;
  const double next = hingeDualStep(alpha, u, q, y);
  const double delta = next - alpha;
  if (delta != 0) {
    the.alpha[i] = next;
    the.level[i] = 0;
    the.stats[0] += 2 * (double)the.counts[i];
    the.stats[1] += 1;
    return delta;
  }
  the.stats[0] += the.counts[i];
  if (the.shrink != 0) {
    const double slope = y - u;
    int level = 0;
    if (slope > 0.05 || slope < -0.05) {
      level = the.level[i] < 3 ? the.level[i] + 1 : 3;
      the.skip[i] = (1 << level) - 1;
    }
    the.level[i] = level;
  }
  return 0;
}

static void sweepRows(void) {
  for (int position = 0; position < (int)the.rows; position++) {
    const int i = the.rowOrder[position];
    const int first = the.rowOffsets[i], last = the.rowOffsets[i + 1];
    const double delta = stepHingeRow(i, dot(first, last, the.weights));
    if (delta != 0) update(first, last, the.weights, delta * the.deltaScale);
  }
}

/* assembly/columns.ts, logistic loss */
static __attribute__((noinline)) void refresh(int i) {
  const double u = the.margins[i], y = the.labels[i];
  const double z = -y * u;
  const double e = exp(-fabs(u));
  const double curvature = e / ((1 + e) * (1 + e));
  the.slopes[i] = -y * ((z >= 0 ? 1 : e) / (1 + e));
  the.curvatures[i] =
      (curvature < 1e-3 ? 1e-3 : curvature) * (1 + the.damping * the.density[i]);
  the.dirty[i] = 0;
}

static void gatherColumns(void) {
  const int32_t *indices = the.columnIndices;
  const float *values = the.columnValues;
  const double *slopes = the.slopes, *curvatures = the.curvatures;
  const uint8_t *dirty = the.dirty;
  for (int position = 0; position < (int)the.columns; position++) {
    const int j = the.columnOrder[position];
    const int last = the.columnOffsets[j + 1];
    double g = 0, h = 0;
    for (int k = the.columnOffsets[j]; k < last; k++) {
      const int i = indices[k];
      const double x = values[k];
      if (dirty[i]) refresh(i);
      g += slopes[i] * x;
      h += curvatures[i] * x * x;
    }
    the.gradients[j] = g;
    the.hessians[j] = h;
  }
}

static void scatterColumns(void) {
  const int32_t *indices = the.columnIndices;
  const float *values = the.columnValues;
  double *margins = the.margins;
  uint8_t *dirty = the.dirty;
  for (int position = 0; position < (int)the.columns; position++) {
    const int j = the.columnOrder[position];
    const double delta = the.columnDeltas[position];
    const int last = the.columnOffsets[j + 1];
    for (int k = the.columnOffsets[j]; k < last; k++) {
      margins[indices[k]] += delta * values[k];
      dirty[indices[k]] = 1;
    }
  }
}

static const struct { const char *name; void (*pass)(void); } kernels[] = {
  {"saddleHinge", saddleHinge}, {"saddleHingeAdagrad", saddleHingeAdagrad},
  {"saddleHingeSvrg", saddleHingeSvrg}, {"saddleLogistic", saddleLogistic},
  {"saddleLogisticAdagrad", saddleLogisticAdagrad}, {"saddleLogisticSvrg", saddleLogisticSvrg},
  {"sweepRows", sweepRows}, {"gather", gather}, {"scatter", scatter},
  {"gatherColumns", gatherColumns}, {"scatterColumns", scatterColumns},
};

static void fail(const char *what, const char *which) {
  fprintf(stderr, "kernels: %s %s\n", what, which);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double run(const char *name, int passes) {
  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    if (strcmp(kernels[k].name, name) != 0) continue;
    double seconds = 0;
    for (int pass = 0; pass < passes; pass++) {
      memcpy(memory + state, initial, bytes - state);
      const double start = now();
      kernels[k].pass();
      seconds += now() - start;
    }
    return seconds;
  }
  fail("no kernel", name);
  return 0;
}

static void setArray(const char *name, size_t address) {
#define MATCH_ARRAY(type, field) \
  if (strcmp(name, #field) == 0) { the.field = (type *)(memory + address); return; }
  ARRAYS(MATCH_ARRAY)
  fail("no array", name);
}

static void setNumber(const char *name, double value) {
#define MATCH_NUMBER(field) if (strcmp(name, #field) == 0) { the.field = value; return; }
  NUMBERS(MATCH_NUMBER)
  fail("no number", name);
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  initial = malloc(bytes - state);
  if (!file || !memory || !initial) fail("cannot load", path);
  if (fread(memory, 1, bytes, file) != bytes) fail("too short:", path);
  fclose(file);
  memcpy(initial, memory + state, bytes - state);
}

static void save(const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(memory + state, 1, bytes - state, file) != bytes - state) {
    fail("cannot write", path);
  }
  fclose(file);
}

int main(int count, char **arguments) {
  static char word[16], name[64], value[4096];
  if (count != 4) fail("usage:", "kernels IMAGE BYTES STATE");
  bytes = strtoull(arguments[2], NULL, 10);
  state = strtoull(arguments[3], NULL, 10);
  load(arguments[1]);
  while (scanf("%15s", word) == 1) {
    if (strcmp(word, "save") == 0 && scanf(" %4095[^\n]", value) == 1) {
      save(value);
      printf("saved\n");
    } else if (scanf("%63s %4095s", name, value) != 2) {
      fail("incomplete:", word);
    } else if (strcmp(word, "array") == 0) {
      setArray(name, strtoull(value, NULL, 10));
    } else if (strcmp(word, "number") == 0) {
      setNumber(name, strtod(value, NULL));
    } else if (strcmp(word, "run") == 0) {
      printf("%.9f\n", run(name, atoi(value)));
    } else {
      fail("no command", word);
    }
    fflush(stdout);
  }
  return 0;
}

import { UsageError } from '../errors.ts';
import { hasLogLink } from '../losses/link.ts';
import { numberText } from '../model/export/tables.ts';
import type { Label, Model } from '../model/model.ts';
import { vectorCount, weightsOf } from '../model/model.ts';

/** LIBLINEAR keeps labels in a C int. */
const labelLimit = 2 ** 31;

/**
 * The model file of LIBLINEAR. Weights stand by feature, with one column per class; of two classes
 * there is one column, whose positive side is the first label. The intercept is the weight of a
 * last feature that is 1 in every row. Numbers have the fewest digits that give the same double.
 */
export function* liblinearModel(model: Model): Generator<string> {
  const labels = labelLine(model);
  const vectors = Array.from({ length: vectorCount(model) }, (_, vector) =>
    weightsOf(model, vector),
  );
  const biased = model.intercepts.some((intercept) => intercept !== 0);
  yield* liblinearText({
    solver: solverType(model),
    ...(labels && { labels }),
    features: model.columns,
    bias: biased ? 1 : -1,
    vectors,
    ...(biased && { biasWeights: model.intercepts }),
  });
}

/** What a model file of LIBLINEAR says. */
export interface LiblinearContent {
  readonly solver: string;
  /** In classification; of two, the first is the positive side. */
  readonly labels?: readonly Label[];
  readonly features: number;
  /** The value of one more feature, the last; below 0 where there is none. */
  readonly bias: number;
  readonly vectors: readonly Float64Array[];
  /** Its weights, one for each vector. */
  readonly biasWeights?: Float64Array;
}

export function* liblinearText(content: LiblinearContent): Generator<string> {
  const { solver, labels, features, bias, vectors, biasWeights } = content;
  yield `solver_type ${solver}\n`;
  yield `nr_class ${labels?.length ?? 2}\n`;
  if (labels !== undefined) yield `label ${labels.join(' ')}\n`;
  yield `nr_feature ${features}\n`;
  yield `bias ${bias}\n`;
  yield 'w\n';
  for (let column = 0; column < features; column++) {
    let line = '';
    for (const weights of vectors) line += `${numberText(weights[column])} `;
    yield `${line}\n`;
  }
  if (biasWeights) yield `${Array.from(biasWeights, numberText).join(' ')} \n`;
}

function labelLine({ classes, multiLabel }: Model): readonly Label[] | undefined {
  if (classes === undefined) return undefined;
  if (multiLabel) {
    throw new UsageError('--to liblinear: LIBLINEAR has no models that give several labels');
  }
  const foreign = classes.find(
    (label) => !Number.isInteger(label) || Math.abs(Number(label)) >= labelLimit,
  );
  if (foreign !== undefined) {
    throw new UsageError(
      `--to liblinear: the class ${JSON.stringify(foreign)}; ` +
        'LIBLINEAR has whole numbers for labels and nothing else',
    );
  }
  return classes.length === 2 ? [classes[1], classes[0]] : classes;
}

/** The solver of LIBLINEAR for this problem, or the nearest; for prediction only its kind counts. */
function solverType({ task, loss, penalty }: Model): string {
  if (hasLogLink(loss.name)) {
    throw new UsageError(
      `--to liblinear: its predictions are scores, those of the ${loss.name} loss are exp(score)`,
    );
  }
  const sparse = penalty.l1 > 0 && penalty.l2 === 0;
  if (task === 'regression') {
    return loss.name === 'absolute' || loss.name === 'quantile'
      ? 'L2R_L1LOSS_SVR_DUAL'
      : 'L2R_L2LOSS_SVR';
  }
  if (loss.name === 'logistic') return sparse ? 'L1R_LR' : 'L2R_LR';
  if (sparse) return 'L1R_L2LOSS_SVC';
  return loss.name === 'hinge' ? 'L2R_L1LOSS_SVC_DUAL' : 'L2R_L2LOSS_SVC';
}

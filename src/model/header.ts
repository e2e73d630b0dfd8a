import type { Recipe } from '../data/recipe.ts';
import { DataError, DsoError } from '../errors.ts';
import type { StopReason } from '../train/events.ts';
import { Fields } from './fields.ts';
import type {
  Calibration,
  Certificate,
  Label,
  Model,
  ModelDescription,
  Provenance,
} from './model.ts';
import { vectorCount } from './model.ts';
import type { WeightEncoding } from './weights.ts';

/** The bytes of a part of the file, and what guards them. */
export interface Section {
  readonly bytes: number;
  readonly sha256: string;
}

export interface WeightSection extends Section {
  readonly encoding: WeightEncoding;
  readonly stored: number;
}

/** The JSON part of a model file: the description, the intercepts and what the payload holds. */
export interface Header {
  readonly description: ModelDescription;
  readonly intercepts: Float64Array;
  readonly weights: WeightSection;
  readonly featureNames?: Section;
}

/** Most columns a model can have: column numbers are int32. */
const columnLimit = 2 ** 31 - 1;

/** A record, so that the compiler misses a reason that is not in it. */
const stopReasons: Readonly<Record<StopReason, true>> = {
  converged: true,
  'epoch-limit': true,
  'time-limit': true,
  interrupted: true,
  'early-stop': true,
  stream: true,
  imported: true,
};

/**
 * The header as text, keys always in this order, so that equal models are equal files. JSON has
 * no −0 and no infinities: those three numbers are written as strings.
 */
export function headerText(
  model: Omit<Model, 'weights' | 'featureNames'>,
  weights: WeightSection,
  featureNames: Section | undefined,
): string {
  const { loss, penalty } = model;
  const header = {
    task: model.task,
    loss: { name: loss.name, parameter: loss.parameter, module: loss.module },
    penalty: {
      name: penalty.name,
      l1: penalty.l1,
      l2: penalty.l2,
      low: penalty.low,
      high: penalty.high,
    },
    lambda: model.lambda,
    // As labels −0 and 0 are the same; adding 0 makes one of them.
    classes: model.classes?.map((label) => (typeof label === 'number' ? label + 0 : label)),
    multiLabel: model.multiLabel,
    columns: model.columns,
    rows: model.rows,
    nonzeros: model.nonzeros,
    solver: model.solver,
    grid: model.grid,
    seed: model.seed,
    certificate: orderedCertificate(model.certificate),
    certificates: model.certificates?.map(orderedCertificate),
    recipe: model.recipe && orderedRecipe(model.recipe),
    unitRows: model.unitRows,
    calibration: model.calibration?.map(orderedCalibration),
    provenance: model.provenance && orderedProvenance(model.provenance),
    intercepts: [...model.intercepts],
    weights: {
      encoding: weights.encoding,
      stored: weights.stored,
      bytes: weights.bytes,
      sha256: weights.sha256,
    },
    featureNames: featureNames && { bytes: featureNames.bytes, sha256: featureNames.sha256 },
  };
  return `${JSON.stringify(header, writeNumber, 2)}\n`;
}

function orderedCertificate(certificate: Certificate): Certificate {
  const { primal, dual, gap, relativeGap, epochs, stopped } = certificate;
  return { primal, dual, gap, relativeGap, epochs, stopped };
}

function orderedRecipe({ hashBits, fields, missing, missingValues }: Recipe): object {
  const ordered = fields?.map(({ name, kind }) => ({ name, kind }));
  return { hashBits, fields: ordered, missing, missingValues };
}

function orderedCalibration(calibration: Calibration): Calibration {
  if (calibration.method === 'platt') {
    const { method, slope, offset } = calibration;
    return { method, slope, offset };
  }
  const { method, scores, probabilities } = calibration;
  return { method, scores, probabilities };
}

/** Options are text and finite numbers: what reads back as it was. */
function orderedProvenance({ version, data, options }: Provenance): Provenance {
  const entries = Object.keys(options)
    .sort()
    .map((key) => {
      const value = options[key];
      return [key, typeof value === 'number' && Number.isFinite(value) ? value + 0 : value];
    });
  return { version, data, options: Object.fromEntries(entries) };
}

function writeNumber(key: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  if (Number.isNaN(value)) {
    throw new DsoError('failure', `the model's ${key} is NaN; such a model is not written`);
  }
  return Object.is(value, -0) ? '-0' : Number.isFinite(value) ? value : String(value);
}

/** Reads and checks every field; `name` is the file, for messages. */
export function parseHeader(text: string, version: number, name: string): Header {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new DataError(`${name}: the header is not JSON: ${(cause as Error).message}`, { cause });
  }
  const fields = new Fields(json, '', name);
  const description = parseDescription(fields, version);
  const intercepts = Float64Array.from(
    version === 1 ? [fields.finite('intercept')] : fields.finiteNumbers('intercepts'),
  );
  checkVectors(description, intercepts, name);
  return {
    description,
    intercepts,
    weights: parseWeights(fields.object('weights')),
    ...(fields.has('featureNames') && { featureNames: parseSection(fields, 'featureNames') }),
  };
}

/** What there is one of for each vector. */
function checkVectors(description: ModelDescription, intercepts: Float64Array, name: string): void {
  const { calibration, certificates } = description;
  const vectors = vectorCount(description);
  for (const [key, list] of Object.entries({ intercepts, calibration, certificates })) {
    if (list === undefined || list.length === vectors) continue;
    throw new DataError(
      `${name}: header: ${list.length} ${key}; wanted one for each of ${vectors} vectors`,
    );
  }
}

function parseDescription(fields: Fields, version: number): ModelDescription {
  const loss = fields.object('loss');
  const penalty = fields.object('penalty');
  const task = fields.oneOf('task', ['classification', 'regression']);
  if (task === 'regression') {
    for (const key of ['multiLabel', 'calibration']) {
      if (fields.has(key)) fields.refuse(key, 'none in a regression');
    }
  }
  return {
    task,
    loss: {
      name: loss.string('name'),
      parameter: loss.number('parameter'),
      ...(loss.has('module') && { module: loss.string('module') }),
    },
    penalty: {
      name: penalty.string('name'),
      l1: penalty.number('l1'),
      l2: penalty.number('l2'),
      ...(penalty.has('low') && { low: penalty.number('low') }),
      ...(penalty.has('high') && { high: penalty.number('high') }),
    },
    lambda: fields.number('lambda'),
    ...(task === 'classification' && { classes: parseClasses(fields, version) }),
    ...(fields.flag('multiLabel') && { multiLabel: true }),
    columns: fields.count('columns', columnLimit),
    rows: fields.count('rows'),
    nonzeros: fields.count('nonzeros'),
    solver: fields.string('solver'),
    grid: fields.count('grid'),
    seed: fields.number('seed'),
    certificate: parseCertificate(fields.object('certificate')),
    ...parseAdditions(fields),
  };
}

/** What a model may have and need not. */
function parseAdditions(fields: Fields): Partial<ModelDescription> {
  return {
    ...(fields.has('certificates') && {
      certificates: fields.objects('certificates').map(parseCertificate),
    }),
    ...(fields.has('recipe') && { recipe: parseRecipe(fields.object('recipe')) }),
    ...(fields.flag('unitRows') && { unitRows: true }),
    ...(fields.has('calibration') && {
      calibration: fields.objects('calibration').map(parseCalibration),
    }),
    ...(fields.has('provenance') && { provenance: parseProvenance(fields.object('provenance')) }),
  };
}

/** In version 1 two numbers, which may be −0. */
function parseClasses(fields: Fields, version: number): readonly Label[] {
  if (version === 1) return fields.pair('classes');
  const classes = fields.labels('classes');
  const enough = fields.flag('multiLabel') ? 1 : 2;
  if (classes.length < enough) fields.refuse('classes', `at least ${enough} labels`);
  if (new Set(classes).size < classes.length) fields.refuse('classes', 'each label once');
  return classes;
}

function parseCertificate(fields: Fields): Certificate {
  return {
    primal: fields.number('primal'),
    dual: fields.number('dual'),
    gap: fields.number('gap'),
    relativeGap: fields.number('relativeGap'),
    epochs: fields.count('epochs'),
    stopped: fields.oneOf('stopped', Object.keys(stopReasons) as StopReason[]),
  };
}

function parseRecipe(fields: Fields): Recipe {
  return {
    ...(fields.has('hashBits') && { hashBits: fields.count('hashBits', 31) }),
    ...(fields.has('fields') && {
      fields: fields.objects('fields').map((field) => ({
        name: field.string('name'),
        kind: field.oneOf('kind', ['number', 'category', 'label', 'weight', 'ignored']),
      })),
    }),
    ...(fields.has('missing') && {
      missing: fields.oneOf('missing', ['indicator', 'zero', 'error']),
    }),
    ...(fields.has('missingValues') && {
      missingValues: fields.labels('missingValues').map(String),
    }),
  };
}

function parseCalibration(fields: Fields): Calibration {
  const method = fields.oneOf('method', ['platt', 'isotonic']);
  if (method === 'platt') {
    return { method, slope: fields.finite('slope'), offset: fields.finite('offset') };
  }
  const scores = fields.finiteNumbers('scores');
  const probabilities = fields.finiteNumbers('probabilities');
  if (scores.length === 0 || scores.length !== probabilities.length) {
    fields.refuse('scores', `as many as the ${probabilities.length} probabilities, at least one`);
  }
  if (scores.some((score, point) => point > 0 && score < scores[point - 1])) {
    fields.refuse('scores', 'ascending numbers');
  }
  if (probabilities.some((probability) => probability < 0 || probability > 1)) {
    fields.refuse('probabilities', 'numbers from 0 to 1');
  }
  return { method, scores, probabilities };
}

function parseProvenance(fields: Fields): Provenance {
  const options = fields.object('options');
  return {
    version: fields.string('version'),
    data: fields.string('data'),
    options: Object.fromEntries(options.keys().map((key) => [key, options.scalar(key)])),
  };
}

function parseWeights(fields: Fields): WeightSection {
  return {
    encoding: fields.oneOf('encoding', ['dense', 'sparse']),
    stored: fields.count('stored'),
    bytes: fields.count('bytes'),
    sha256: fields.string('sha256'),
  };
}

function parseSection(fields: Fields, key: string): Section {
  const section = fields.object(key);
  return { bytes: section.count('bytes'), sha256: section.string('sha256') };
}

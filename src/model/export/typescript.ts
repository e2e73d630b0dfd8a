/**
 * The model as a module of TypeScript without dependencies: the built predictor, the model file in
 * base64, and functions with the types of this model. Nothing that a model file says becomes code:
 * labels are JSON, the rest is base64 or a comment of one line.
 */
import { readFileSync } from 'node:fs';
import { UsageError } from '../../errors.ts';
import { encodeModel } from '../file.ts';
import { type Model, vectorCount } from '../model.ts';
import { givesProbabilities } from '../predict/predict.ts';
import { oneLine } from './text.ts';

const bundle = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/predict.js' : './predict.js',
  import.meta.url,
);
const base64Width = 100;

export function* typescriptModule(model: Model, code = predictorCode()): Generator<string> {
  yield '// @ts-nocheck: the predictor below is minified JavaScript; what is exported has types.\n';
  yield* comment(model);
  yield `\nexport const columns = ${model.columns};\n`;
  yield sparseRow;
  yield model.featureNames || model.recipe?.hashBits !== undefined ? namedRow : plainRow;
  yield* functions(model);
  yield `\n/** dso/predict, as in the package. */\nconst { loadModel } = (() => {\n${code}\n})();\n`;
  yield '\n/** The model file, in base64. */\nconst file = `\n';
  yield* base64Lines(encodeModel(model));
  yield '`;\n\nconst predictor = loadModel(\n';
  yield '  Uint8Array.from(atob(file), (letter) => letter.charCodeAt(0)),\n';
  yield '  { verify: false },\n);\n';
}

/** The bundle of src/predict.ts as the body of a function that returns what it exports. */
function predictorCode(): string {
  let text: string;
  try {
    text = readFileSync(bundle, 'utf8');
  } catch (cause) {
    throw new UsageError(
      `--to typescript: the built predictor ${bundle.pathname} cannot be read; run npm run build`,
      { cause },
    );
  }
  return text.trim().replace(/export\s*\{([^}]*)\};?$/, (_, names: string) => {
    const exported = names.replace(/([\w$]+) as ([\w$]+)/g, '$2: $1');
    return `return { ${exported} };`;
  });
}

function* comment({ loss, penalty, lambda, certificate, provenance }: Model): Generator<string> {
  yield '// Written by dso export --to typescript.\n';
  yield `// Loss ${oneLine(loss.name)}, penalty ${oneLine(penalty.name)}, lambda ${lambda}, `;
  yield `relative duality gap ${certificate.relativeGap}.\n`;
  if (provenance)
    yield `// Data ${oneLine(provenance.data)}, dso ${oneLine(provenance.version)}.\n`;
}

const sparseRow = `
/** Values by column, counted from 0; a column that comes twice is added up. */
export interface SparseRow {
  readonly indices: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}
`;

const namedRow = `
export type NamedValue =
  | number
  | string
  | boolean
  | null
  | undefined
  | readonly NamedValue[]
  | { readonly [name: string]: NamedValue };

/** Values by field, as in the training data, or by the name of the feature. */
export type NamedRow = Readonly<Record<string, NamedValue>>;

/** Named values, sparse values, or a value for every column. */
export type Row = NamedRow | SparseRow | ArrayLike<number>;
`;

const plainRow = `
/** Sparse values, or a value for every column. */
export type Row = SparseRow | ArrayLike<number>;
`;

function* functions(model: Model): Generator<string> {
  const { classes, multiLabel } = model;
  if (classes !== undefined) {
    const labels = classes.map((label) => JSON.stringify(label)).join(', ');
    yield `\n/** In the order of ${vectorCount(model) > 1 ? 'scores and ' : ''}probabilities. */\n`;
    yield `export const classes = [${labels}] as const;\n`;
    yield '\nexport type Label = (typeof classes)[number];\n';
  }
  yield functionText('scores', 'number[]', 'The scores of all vectors of weights.');
  if (classes === undefined) yield functionText('predict', 'number', 'The predicted value.');
  else if (multiLabel) {
    yield functionText('predict', 'string', 'All classes of the row, separated by commas.');
  } else yield functionText('predict', 'Label', 'The class of the row.');
  if (givesProbabilities(model)) yield functionText('probabilities', 'number[]', 'By class.');
}

function functionText(name: string, result: string, summary: string): string {
  return `
/** ${summary} */
export function ${name}(row: Row): ${result} {
  return predictor.${name}(row);
}
`;
}

function* base64Lines(bytes: Uint8Array): Generator<string> {
  const text = Buffer.from(bytes).toString('base64');
  for (let start = 0; start < text.length; start += base64Width) {
    yield `${text.slice(start, start + base64Width)}\n`;
  }
}

import { DataError, UsageError } from '../../errors.ts';
import type { Model } from '../model.ts';
import { jsonModel, parseJsonModel } from './json.ts';
import { isLiblinearModel, liblinearModel, parseLiblinearModel } from './liblinear.ts';
import { type ExportFormat, exportFormats } from './names.ts';
import { onnxModel } from './onnx.ts';
import { pmmlDocument } from './pmml.ts';
import { csvTable, inBlocks, readableModel } from './text.ts';
import { typescriptModule } from './typescript.ts';

export { type ExportFormat, exportFormats };

/** Parts of a model that a format may not hold. */
type ModelPart = 'calibration' | 'threshold' | 'unitRows' | 'recipe';

export interface ExportEntry {
  /** Throws a UsageError where the format has no way to say what the model does. */
  write(model: Model): Iterable<Uint8Array | string>;
  /** Bytes rather than text. */
  readonly binary?: true;
  readonly keeps: readonly ModelPart[];
  /** How a file of the format is read back. */
  readonly import?: {
    /** Whether a file that starts with this text is one. */
    recognises(start: string): boolean;
    parse(text: string, name: string): Model;
    /** Ends the sentence "expected …". */
    readonly expected: string;
  };
}

const entries = {
  onnx: { write: onnxModel, binary: true, keeps: ['calibration', 'unitRows'] },
  liblinear: {
    write: liblinearModel,
    keeps: [],
    import: {
      recognises: isLiblinearModel,
      parse: parseLiblinearModel,
      expected: 'a model file of LIBLINEAR (solver_type …)',
    },
  },
  'vw-readable': { write: readableModel, keeps: [] },
  json: {
    write: jsonModel,
    keeps: ['calibration', 'threshold', 'unitRows', 'recipe'],
    import: {
      recognises: (start: string) => /^\s*\{/.test(start),
      parse: parseJsonModel,
      expected: 'the JSON of dso export --to json',
    },
  },
  pmml: { write: pmmlDocument, keeps: [] },
  csv: { write: csvTable, keeps: [] },
  typescript: {
    write: typescriptModule,
    keeps: ['calibration', 'threshold', 'unitRows', 'recipe'],
  },
} as const satisfies Readonly<Record<ExportFormat, ExportEntry>>;

type Entries = typeof entries;

type BinaryFormat = {
  [Format in ExportFormat]: Entries[Format] extends { binary: true } ? Format : never;
}[ExportFormat];

function entryOf(format: ExportFormat): ExportEntry {
  if (Object.hasOwn(entries, format)) return entries[format];
  throw new UsageError(`format ${JSON.stringify(format)}; expected ${exportFormats.join(', ')}`);
}

/** The model in the format of another program; throws a UsageError where it has no such model. */
export function exportModel(model: Model, format: BinaryFormat): Uint8Array;
export function exportModel(model: Model, format: Exclude<ExportFormat, BinaryFormat>): string;
export function exportModel(model: Model, format: ExportFormat): Uint8Array | string;
export function exportModel(model: Model, format: ExportFormat): Uint8Array | string {
  const pieces = [...exportPieces(model, format)];
  return entryOf(format).binary ? Buffer.concat(pieces as Uint8Array[]) : pieces.join('');
}

/** The same in pieces to be written one after the other. */
export function exportPieces(model: Model, format: ExportFormat): Iterable<Uint8Array | string> {
  const { write, binary } = entryOf(format);
  return binary ? write(model) : inBlocks(write(model) as Iterable<string>);
}

const notices: Readonly<Record<ModelPart, (format: string) => string>> = {
  calibration: (format) => `${format} has no calibrated probabilities: they are left out`,
  threshold: (format) => `${format} has no threshold: rows are positive above a score of 0`,
  unitRows: () => 'rows have to be divided by their Euclidean length before they are scored',
  recipe: () =>
    'categories and missing values are columns of their own: see their names in --to csv',
};

/** What a user of the exported model should know that the format does not say. */
export function exportNotices(model: Model, format: ExportFormat): string[] {
  const { keeps } = entryOf(format);
  return (Object.keys(notices) as ModelPart[])
    .filter((part) => model[part] !== undefined && !keeps.includes(part))
    .map((part) => notices[part](format));
}

const importers = exportFormats.flatMap((format) => entryOf(format).import ?? []);

/** Characters at the start of a file that are enough to recognise its format. */
const startLength = 256;

/**
 * The model in a file of another program, or in our own JSON; `name` is the file, for messages.
 * Throws a DataError.
 */
export function importModel(bytes: Uint8Array | string, name = 'model'): Model {
  const text = typeof bytes === 'string' ? bytes : textOf(bytes, name);
  const start = text.slice(0, startLength);
  const importer = importers.find(({ recognises }) => recognises(start));
  if (importer) return importer.parse(text, name);
  throw new DataError(
    `${name}: ${text === '' ? 'an empty file' : `it begins with ${JSON.stringify(text.slice(0, 24))}`}; ` +
      `expected ${importers.map(({ expected }) => expected).join(' or ')}`,
  );
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new DataError(`${name}: not a text in UTF-8, or longer than a text can be`, { cause });
  }
}

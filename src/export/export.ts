import { UsageError } from '../errors.ts';
import { onnxModel } from '../model/export/onnx.ts';
import { pmmlDocument } from '../model/export/pmml.ts';
import { inBlocks } from '../model/export/tables.ts';
import { readableModel } from '../model/export/text.ts';
import type { Model } from '../model/model.ts';
import { csvTable } from './csv.ts';
import { type ExportFormat, exportFormats } from './formats.ts';
import { jsonModel } from './json.ts';
import { liblinearModel } from './liblinear.ts';
import { typescriptModule } from './typescript.ts';

/** Formats of text; ONNX is binary. */
const writers: Readonly<
  Record<Exclude<ExportFormat, 'onnx'>, (model: Model) => Generator<string>>
> = {
  liblinear: liblinearModel,
  'vw-readable': readableModel,
  json: jsonModel,
  pmml: pmmlDocument,
  csv: csvTable,
  typescript: typescriptModule,
};

/**
 * The model in the format of another program: bytes for ONNX, text for the others. Throws a
 * UsageError where the format has no way to say what the model does.
 */
export function exportModel(model: Model, format: 'onnx'): Uint8Array;
export function exportModel(model: Model, format: Exclude<ExportFormat, 'onnx'>): string;
export function exportModel(model: Model, format: ExportFormat): Uint8Array | string;
export function exportModel(model: Model, format: ExportFormat): Uint8Array | string {
  const pieces = [...exportPieces(model, format)];
  if (format !== 'onnx') return pieces.join('');
  return Buffer.concat(pieces as Uint8Array[]);
}

/** The same in pieces to be written one after the other. */
export function exportPieces(model: Model, format: ExportFormat): Iterable<Uint8Array | string> {
  if (format === 'onnx') return onnxModel(model);
  if (!Object.hasOwn(writers, format)) {
    throw new UsageError(`format ${JSON.stringify(format)}; wanted ${exportFormats.join(', ')}`);
  }
  return inBlocks(writers[format](model));
}

/** What a user of the exported model should know that the format does not say. */
export function exportNotices(model: Model, format: ExportFormat): string[] {
  const notices: string[] = [];
  const complete = ['json', 'onnx', 'typescript'].includes(format);
  if (model.calibration !== undefined && !complete) {
    notices.push(`${format} has no calibrated probabilities: they are left out`);
  }
  if (model.unitRows && !complete) {
    notices.push('rows have to be divided by their Euclidean length before they are scored');
  }
  if (model.recipe !== undefined && !['json', 'typescript'].includes(format)) {
    notices.push(
      'categories and missing values are columns of their own: see their names in --to csv',
    );
  }
  return notices;
}

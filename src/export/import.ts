import { DataError } from '../errors.ts';
import { parseJsonModel } from '../model/export/json.ts';
import { isLiblinearModel, parseLiblinearModel } from '../model/export/liblinear.ts';
import type { Model } from '../model/model.ts';

/** So many bytes tell what a file is. */
const startBytes = 256;

/**
 * The model in a file of another program, or in our own JSON; `name` is the file, for messages.
 * Throws a DataError.
 */
export function importModel(bytes: Uint8Array | string, name = 'model'): Model {
  const text = typeof bytes === 'string' ? bytes : textOf(bytes, name);
  const start = text.slice(0, startBytes);
  if (isLiblinearModel(start)) return parseLiblinearModel(text, name);
  if (/^\s*\{/.test(start)) return parseJsonModel(text, name);
  throw new DataError(
    `${name}: ${text === '' ? 'an empty file' : `it begins with ${JSON.stringify(text.slice(0, 24))}`}; ` +
      'wanted a model file of LIBLINEAR (solver_type …) or the JSON of dso export --to json',
  );
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new DataError(`${name}: not a text in UTF-8, or longer than a text can be`, { cause });
  }
}

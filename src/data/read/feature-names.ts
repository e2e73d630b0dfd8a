import { createHash, type Hash } from 'node:crypto';
import { DataError } from '../../errors.ts';
import { countNonzeros, type Dataset, type DatasetSchema } from '../dataset.ts';
import { LabelList } from '../fields/label-list.ts';
import { Assembler } from '../fields/vocabulary.ts';
import { quote } from './line-error.ts';

const namesPerPiece = 1 << 14;

/** Names as lines, the way binary data stores them. */
export function* nameLines(names: readonly string[]): Generator<Uint8Array> {
  const broken = names.find((name) => /[\r\n]/.test(name));
  if (broken !== undefined) {
    throw new DataError(`feature name ${quote(broken)}; expected one without line ends`);
  }
  checkDistinct(names, 'names');
  for (let first = 0; first < names.length; first += namesPerPiece) {
    yield Buffer.from(`${names.slice(first, first + namesPerPiece).join('\n')}\n`);
  }
}

/** The names in lines of `title`. */
export function namesOf(lines: readonly Uint8Array[], title: string): string[] {
  const names = Buffer.concat(lines).toString('utf8').split('\n').slice(0, -1);
  checkDistinct(names, title);
  return names;
}

/** Refuses a name of two columns: a row of named values would mean either. An empty one is none. */
function checkDistinct(names: readonly string[], title: string): void {
  const columns = new Map<string, number>();
  for (const [column, name] of names.entries()) {
    const before = columns.get(name);
    if (before !== undefined && name !== '') {
      const both = `feature ${before + 1} and feature ${column + 1}`;
      throw new DataError(`${title}: ${both} are called ${quote(name)}; expected different names`);
    }
    columns.set(name, column);
  }
}

/** Names of features come behind the rows of each file, and must be the same in all files. */
export class NameLines {
  readonly #pieces: Uint8Array[] = [];
  readonly #hashes = new Map<string, Hash>();
  #first: string | undefined;

  add(path: string, lines: Uint8Array): void {
    this.#first ??= path;
    if (path === this.#first) this.#pieces.push(lines);
    const hash = this.#hashes.get(path) ?? createHash('sha256');
    this.#hashes.set(path, hash.update(lines));
  }

  take(): readonly Uint8Array[] {
    const digests = [...this.#hashes].map(([path, hash]) => ({ path, digest: hash.digest('hex') }));
    const other = digests.find(({ digest }) => digest !== digests[0].digest);
    if (other) {
      const message = `its names of features are not those of ${this.#first}`;
      throw new DataError(`${other.path}: ${message}; expected the same in all files`);
    }
    return this.#pieces;
  }
}

/** Data with the names that its file has; columns are those of the other data, if it has names. */
export function withStoredNames(
  dataset: Dataset,
  lines: readonly Uint8Array[],
  like?: DatasetSchema,
): Dataset {
  const featureNames = namesOf(lines, dataset.name);
  const known = like?.featureNames;
  if (!known) return { ...dataset, featureNames };
  const same = featureNames.every((name, column) => name === known[column]);
  if (same) return { ...dataset, featureNames: known };
  // Columns behind the last name have none in the other data either.
  const names = Array.from(
    { length: dataset.columns },
    (_, column) => featureNames[column] ?? `column ${column + 1}`,
  );
  const assembler = new Assembler({ like }, new LabelList());
  const parts = dataset.parts.map((part) => {
    const labels = part.labels.slice();
    return { ...assembler.add({ ...part, labels, names, ordered: false }), labels: part.labels };
  });
  return {
    ...dataset,
    parts,
    columns: assembler.vocabulary.columns,
    nonzeros: countNonzeros(parts),
    notices: [...dataset.notices, ...assembler.notices()],
    featureNames: known,
  };
}

/**
 * The first half of the module that `--to typescript` writes: from rows and literals to entries of
 * columns and vectors of weights. It stands in no need of any library, not even of the declarations
 * of a browser or of Node, and compiles under the strictest settings. What the module computes has
 * the bits of `predict`: the same operations in the same order.
 */

/** Rows of columns. `add` rounds to float32, as data that is read does. */
export const rowSource = `
/** Values by column, counted from 0; a column that comes twice is added up. */
export interface SparseRow {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

interface Entry {
  readonly column: number;
  readonly value: number;
}

function add(entries: Entry[], column: number, value: number): void {
  if (!(Math.abs(value) <= 3.4028234663852886e38)) {
    throw new RangeError(\`the value \${value}; wanted a number below 3.4e38\`);
  }
  if (column < columns) entries.push({ column, value: Math.fround(value) });
}

function readDense(row: readonly number[]): Entry[] {
  const entries: Entry[] = [];
  row.forEach((value, column) => add(entries, column, value));
  return entries;
}

function readSparse({ indices, values }: SparseRow): Entry[] {
  if (indices.length !== values.length) {
    throw new RangeError(\`\${indices.length} indices with \${values.length} values\`);
  }
  const entries: Entry[] = [];
  indices.forEach((column, place) => add(entries, column, values[place]!));
  return ordered(entries);
}

/** Columns ascend; values of the same column become one. */
function ordered(entries: Entry[]): Entry[] {
  entries.sort((left, right) => left.column - right.column);
  const sums: { column: number; value: number }[] = [];
  for (const { column, value } of entries) {
    const last = sums[sums.length - 1];
    if (last !== undefined && last.column === column) last.value += value;
    else sums.push({ column, value });
  }
  return sums.map(({ column, value }) => ({ column, value: Math.fround(value) }));
}
`;

export const plainRowSource = `
/** Sparse values, or a value for every column. */
export type Row = SparseRow | readonly number[];

function isList(row: Row): row is readonly number[] {
  return Array.isArray(row);
}

function read(row: Row): Entry[] {
  return isList(row) ? readDense(row) : readSparse(row);
}
`;

/** Texts that mean a missing value, as in tables. */
export const missingTexts = ['', 'NA', 'N/A', 'NaN', 'null', 'NULL', '?'];

/** Needs `fields`, `closed`, `missing`, `absent`, `columnOf` and `isListed`. */
export const namedRowSource = `
/** Values by field, as in the training data, or by the name of the feature. */
export type NamedRow = Readonly<Record<string, number | string | boolean | null | undefined>>;

/** Named values, sparse values, or a value for every column. */
export type Row = NamedRow | SparseRow | readonly number[];

function isList(row: unknown): row is readonly number[] {
  return Array.isArray(row);
}

function isSparse(row: NamedRow | SparseRow): row is SparseRow {
  return isList(row['indices']) && isList(row['values']);
}

function read(row: Row): Entry[] {
  if (isList(row)) return readDense(row);
  return isSparse(row) ? readSparse(row) : readNamed(row);
}

function isMissing(text: string): boolean {
  return absent.includes(text.trim());
}

function numberOf(text: string): number {
  return /^\\s*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)(e[+-]?\\d+)?\\s*$/i.test(text) ? Number(text) : NaN;
}

function readNamed(row: NamedRow): Entry[] {
  const entries: Entry[] = [];
  for (const [name, value] of Object.entries(row)) {
    const kind = fields.get(name);
    if (kind === undefined ? closed : kind !== 'number' && kind !== 'category') continue;
    if (typeof value === 'string') addText(entries, name, value, kind);
    else if (value === null || value === undefined || absent.includes(String(value))) {
      addMissing(entries, name);
    } else if (kind === 'category') add(entries, columnOf(\`\${name}=\${value}\`), 1);
    else add(entries, columnOf(name), Number(value));
  }
  return ordered(entries.filter(({ column }) => column >= 0));
}

/** A text in a field of numbers is one; elsewhere it is a category. */
function addText(entries: Entry[], name: string, text: string, kind: string | undefined): void {
  if (kind === 'number') {
    if (isMissing(text)) addMissing(entries, name);
    else add(entries, columnOf(name), numberOf(text));
    return;
  }
  const category = \`\${name}=\${text}\`;
  const listed = text !== '?' && isListed(category);
  if (kind === 'category' && !listed && isMissing(text)) addMissing(entries, name);
  else add(entries, columnOf(category), 1);
}

function addMissing(entries: Entry[], name: string): void {
  if (missing === 'error') throw new RangeError(\`\${name} has no value; wanted one\`);
  if (missing === 'indicator') add(entries, columnOf(\`\${name}=?\`), 1);
}
`;

export const listedNamesSource = `
const places = new Map(names.map((name, column) => [name, column]));
const closed: boolean = false;

function columnOf(name: string): number {
  return places.get(name) ?? -1;
}

function isListed(name: string): boolean {
  return places.has(name);
}
`;

/** MurmurHash3 of the name in UTF-8, its low bits. Needs `hashBits`. */
export const hashedNamesSource = `
/** Tables name all of their fields, and what else there is means nothing. */
const closed: boolean = [...fields.values()].includes('number');

function isListed(_name: string): boolean {
  return false;
}

function bytesOf(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    let code = character.codePointAt(0)!;
    if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
    if (code < 0x80) bytes.push(code);
    else {
      const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
      bytes.push(((0xf00 >> (more + 1)) & 0xff) | (code >> (6 * more)));
      for (let shift = 6 * (more - 1); shift >= 0; shift -= 6) {
        bytes.push(0x80 | ((code >> shift) & 0x3f));
      }
    }
  }
  return bytes;
}

function scramble(word: number): number {
  const product = Math.imul(word, 0xcc9e2d51);
  return Math.imul((product << 15) | (product >>> 17), 0x1b873593);
}

function columnOf(name: string): number {
  const bytes = bytesOf(name);
  const whole = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let place = 0; place < whole; place += 4) {
    const low = bytes[place]! | (bytes[place + 1]! << 8);
    hash ^= scramble(low | (bytes[place + 2]! << 16) | (bytes[place + 3]! << 24));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let place = whole; place < bytes.length; place += 1) {
    rest |= bytes[place]! << (8 * (place - whole));
  }
  hash ^= scramble(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % 2 ** hashBits;
}
`;

/** Base64 of little-endian numbers. */
export const base64Source = `
function decode(text: string): DataView {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const codes = new Map([...digits].map((digit, code) => [digit, code]));
  const view = new DataView(new ArrayBuffer(Math.floor((text.length * 3) / 4)));
  let bits = 0;
  let count = 0;
  let place = 0;
  for (const digit of text) {
    bits = ((bits << 6) | codes.get(digit)!) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    view.setUint8(place, (bits >> count) & 0xff);
    place += 1;
  }
  return view;
}

function float64s(text: string): Float64Array {
  const view = decode(text);
  return Float64Array.from({ length: view.byteLength / 8 }, (_, place) =>
    view.getFloat64(8 * place, true),
  );
}
`;

export const base64IndexSource = `
function int32s(text: string): Int32Array {
  const view = decode(text);
  return Int32Array.from({ length: view.byteLength / 4 }, (_, place) =>
    view.getInt32(4 * place, true),
  );
}
`;

export const sparseSource = `
function sparse(indices: ArrayLike<number>, values: ArrayLike<number>): Float64Array {
  const vector = new Float64Array(columns);
  for (let place = 0; place < indices.length; place += 1) {
    vector[indices[place]!] = values[place]!;
  }
  return vector;
}
`;

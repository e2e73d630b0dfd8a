import type { SchemaElement, SchemaTree } from 'hyparquet';
import { type ColumnKind, convertItem, secondsPerDay, type TableColumn } from './table.ts';

/** Times become days here, so that the decoder makes no object for each of them. */
export const parsers = {
  timestampFromMilliseconds: (time: bigint) => Number(time) / (1e3 * secondsPerDay),
  timestampFromMicroseconds: (time: bigint) => Number(time) / (1e6 * secondsPerDay),
  timestampFromNanoseconds: (time: bigint) => Number(time) / (1e9 * secondsPerDay),
  dateFromDays: (days: number) => days,
};

/** The columns of the root of a schema. */
export function parquetColumns({ children }: SchemaTree): TableColumn[] {
  return children.map((node) => {
    const kind = kindOf(node);
    const convert = kind && conversion(kind, valueNode(node).element);
    const column = { name: node.element.name, type: typeName(node) };
    return { ...column, ...(kind && { kind }), ...(convert && { convert }) };
  });
}

/** Where the values of lists and maps are; for plain columns the column itself. */
function valueNode(node: SchemaTree): SchemaTree {
  const last = node.children.at(-1);
  return last ? valueNode(last) : node;
}

function kindOf(node: SchemaTree): ColumnKind | undefined {
  const { element, children } = node;
  if (children.length === 0) {
    const kind = kindOfLeaf(element);
    return element.repetition_type === 'REPEATED' ? pluralOf(kind) : kind;
  }
  const [repeated] = children;
  if (children.length > 1 || repeated.element.repetition_type !== 'REPEATED') return undefined;
  const leaves = repeated.children.length === 0 ? [repeated] : repeated.children;
  if (leaves.some((leaf) => leaf.children.length > 0)) return undefined;
  const kinds = leaves.map((leaf) => kindOfLeaf(leaf.element));
  if (element.converted_type === 'LIST' && kinds.length === 1) return pluralOf(kinds[0]);
  const isMap = element.converted_type === 'MAP' && kinds.length === 2;
  return isMap && kinds[0] === 'text' && kinds[1] === 'number' ? 'map' : undefined;
}

function pluralOf(kind: ColumnKind | undefined): ColumnKind | undefined {
  if (kind === 'text') return 'texts';
  return kind === 'number' ? 'numbers' : undefined;
}

function kindOfLeaf(element: SchemaElement): ColumnKind | undefined {
  const { type, converted_type: converted, logical_type: logical } = element;
  switch (type) {
    case 'BYTE_ARRAY':
      if (converted === 'DECIMAL') return 'number';
      if (converted === 'UTF8' || converted === 'ENUM' || logical?.type === 'STRING') return 'text';
      // Old writers do not say that their bytes are text.
      return converted === undefined && logical === undefined ? 'text' : undefined;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (converted === 'DECIMAL' || logical?.type === 'FLOAT16') return 'number';
      return logical?.type === 'UUID' ? 'text' : undefined;
    case undefined:
      return undefined;
    default:
      // hyparquet knows the scale of a decimal by its older annotation only.
      return logical?.type === 'DECIMAL' && converted !== 'DECIMAL' ? undefined : 'number';
  }
}

/** For messages: `BYTE_ARRAY (JSON)`, `map`. */
function typeName({ element, children }: SchemaTree): string {
  if (children.length > 0) return (element.converted_type ?? 'struct').toLowerCase();
  const note = element.logical_type?.type ?? element.converted_type;
  const type = element.type ?? 'no type';
  return note === undefined ? type : `${type} (${note})`;
}

function conversion(kind: ColumnKind, element: SchemaElement): TableColumn['convert'] {
  const convert = leafConversion(element);
  const item = (value: unknown) => convertItem(value, convert);
  if (kind === 'texts' || kind === 'numbers') {
    return convert && ((value) => Array.from(value as ArrayLike<unknown>, item));
  }
  if (kind !== 'map') return convert;
  return (value) => {
    const entries = Object.entries(value as Record<string, unknown>);
    return new Map(entries.map(([name, number]) => [name, item(number)]));
  };
}

function leafConversion(element: SchemaElement): ((value: unknown) => number) | undefined {
  const { converted_type: converted, logical_type: logical, scale = 0 } = element;
  if (converted === 'DECIMAL') return (value) => decimalOf(value as number, scale);
  if (logical?.type !== 'TIME' && !converted?.startsWith('TIME_')) return undefined;
  const unit = logical?.type === 'TIME' ? logical.unit : converted?.replace('TIME_', '');
  const perSecond = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 }[unit as 'MILLIS'];
  return (value) => Number(value) / (perSecond * secondsPerDay);
}

/** Decimals come multiplied by a power of ten, which is not exact: 3 · 10⁻¹ is not 0.3. */
function decimalOf(value: number, scale: number): number {
  return Math.abs(value) < 1e21 ? Number(value.toFixed(scale)) : value;
}

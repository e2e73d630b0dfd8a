import { DataError, UsageError } from '../../errors.ts';
import { type FieldOptions, isLabelOptional, missingValuesOf } from '../fields/options.ts';
import { fieldsKnown } from '../fields/table-plan.ts';
import { clip, LineError } from '../read/line-error.ts';
import type { Recipe, RecipeField } from '../recipe.ts';
import { textOf } from './decode.ts';
import { objectOf } from './json-lines.ts';

/** How objects are read. Plain data: it goes to threads. */
export interface ObjectPlan {
  /** Keys, with the path that leads to them, that are no plain values. */
  readonly roles: readonly (readonly [string, 'label' | 'weight' | 'category' | 'ignored'])[];
  readonly label: string | undefined;
  /** Where the keys of other data are known: all of those; others are left out. */
  readonly keys?: readonly string[];
  readonly missing: NonNullable<Recipe['missing']>;
  /** Texts that mean a missing value, besides null. */
  readonly missingTexts: readonly string[];
  readonly textLabels: boolean;
  readonly labelOptional: boolean;
}

const labelKeys = ['label', 'target', 'class', 'y'];

/** Looks at the first lines of a file. */
export function planObjects(head: Uint8Array, name: string, options: FieldOptions): ObjectPlan {
  const { like, textLabels = false, categorical = [], ignore = [] } = options;
  const { keys, whole } = keysOf(head);
  const label = labelKey(keys, whole, name, options);
  const weight = weightKey(keys, options);
  const learned = (like?.recipe?.fields ?? []).filter(({ kind }) => kind === 'category');
  const roles = new Map<string, 'label' | 'weight' | 'category' | 'ignored'>();
  for (const { name: key } of learned) roles.set(key, 'category');
  for (const key of categorical) roles.set(key, 'category');
  for (const key of ignore) roles.set(key, 'ignored');
  if (weight !== undefined) roles.set(weight, 'weight');
  if (label !== undefined) roles.set(label, 'label');
  return {
    roles: [...roles],
    label,
    ...knownKeys(options),
    missing: like?.recipe?.missing ?? options.missing ?? 'indicator',
    missingTexts: missingValuesOf(options),
    textLabels: textLabels || like?.labelNames !== undefined,
    labelOptional: isLabelOptional(options),
  };
}

/** Hashes have columns for any key, so those that the training data did not have are left out. */
function knownKeys({ like }: FieldOptions): { keys?: readonly string[] } {
  const fields = like?.recipe?.fields ?? [];
  if (!like || like.featureNames || fieldsKnown(like)('')) return {};
  return { keys: fields.map(({ name }) => name.replace(/[.[].*$/s, '')) };
}

/** The fields that a recipe has to name: those that cannot be told from the values. */
export function objectFields({ roles }: ObjectPlan): RecipeField[] {
  return roles.map(([name, kind]) => ({ name, kind }));
}

/** Keys of the outermost objects; `whole` says that every line is an object. */
function keysOf(head: Uint8Array): { keys: string[]; whole: boolean } {
  const keys = new Set<string>();
  for (const line of textOf(head, 0, head.length).split('\n')) {
    if (line.trim() === '') continue;
    try {
      for (const key of Object.keys(objectOf(line, 0))) keys.add(key);
    } catch (error) {
      // Whoever reads the rows will find the line and say so.
      if (error instanceof LineError) return { keys: [...keys], whole: false };
      throw error;
    }
  }
  return { keys: [...keys], whole: true };
}

function labelKey(
  keys: readonly string[],
  whole: boolean,
  name: string,
  { label, like, ignore = [] }: FieldOptions,
): string | undefined {
  if (typeof label === 'number') {
    throw new UsageError(`label ${label}: keys of JSON have no numbers; expected a name`);
  }
  if (label !== undefined) return label;
  const learned = like?.recipe?.fields?.find(({ kind }) => kind === 'label');
  if (learned) return learned.name;
  const lower = keys.map((key) => key.toLowerCase());
  for (const wanted of labelKeys) {
    const place = lower.indexOf(wanted);
    if (place >= 0 && !ignore.includes(keys[place])) return keys[place];
  }
  if (like || !whole || keys.length === 0) return undefined;
  const shown = `${keys.slice(0, 20).map(clip).join(', ')}${keys.length > 20 ? ', …' : ''}`;
  throw new DataError(
    `${name}: no key called label, target, class or y (name it with --label KEY); the keys are ${shown}`,
  );
}

function weightKey(keys: readonly string[], options: FieldOptions): string | undefined {
  const { weight, like, ignore = [], categorical = [], label } = options;
  if (typeof weight === 'number') {
    throw new UsageError(`weight ${weight}: keys of JSON have no numbers; expected a name`);
  }
  if (weight !== undefined) return weight;
  const fields = like?.recipe?.fields;
  if (fields) return fields.find(({ kind }) => kind === 'weight')?.name;
  const spoken = [...ignore, ...categorical, label].includes('weight');
  return keys.includes('weight') && !spoken ? 'weight' : undefined;
}

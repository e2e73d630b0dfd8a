import { DataError, UsageError } from '../../errors.ts';
import { clip, quote } from '../read/line-error.ts';
import type { Likeness, Recipe, RecipeField } from '../recipe.ts';
import { type FieldOptions, isLabelOptional, missingTexts, missingValuesOf } from './options.ts';

/** What becomes of the fields of a table, one after the other. Plain data: it goes to threads. */
export interface TablePlan {
  readonly fields: readonly RecipeField[];
  readonly missing: NonNullable<Recipe['missing']>;
  /** Texts that mean a missing value. */
  readonly missingTexts: readonly string[];
  readonly textLabels: boolean;
  /** Whether rows may lack a label. */
  readonly labelOptional: boolean;
}

/** A table as its first records show it. */
export interface TableHead {
  /** For messages: a file, with the line of the names if there is one. */
  readonly title: string;
  readonly names: readonly string[];
  /** Whether the field is one of numbers, as far as can be seen. */
  isNumeric(field: number): boolean;
}

const labelNames = ['label', 'target', 'class', 'y'];
const shownNames = 20;

export function planTable(head: TableHead, options: FieldOptions): TablePlan {
  checkNames(head);
  const { like, textLabels = false } = options;
  const kinds = new Map<number, RecipeField['kind']>();
  const setKinds = (names: readonly string[], option: string, kind: RecipeField['kind']) => {
    for (const name of names) kinds.set(placeOf(head, name, option), kind);
  };
  setKinds(options.categorical ?? [], 'categorical', 'category');
  setKinds(options.ignore ?? [], 'ignore', 'ignored');
  const weight = weightPlace(head, options);
  if (weight !== undefined) kinds.set(weight, 'weight');
  const label = labelPlace(head, options);
  if (label !== undefined) kinds.set(label, 'label');
  if (label !== undefined && label === weight) {
    throw new UsageError(`column ${quote(head.names[label])} is asked to be label and weight`);
  }
  const learned = learnedKinds(options);
  const fields = head.names.map((name, place): RecipeField => {
    const found = head.isNumeric(place) ? 'number' : 'category';
    return { name, kind: kinds.get(place) ?? learned(name) ?? found };
  });
  return {
    fields,
    missing: like?.recipe?.missing ?? options.missing ?? 'indicator',
    missingTexts: [...missingTexts, ...missingValuesOf(options)],
    textLabels: textLabels || like?.labelNames !== undefined,
    labelOptional: isLabelOptional(options),
  };
}

/** What other data made of a field, other than label and weight; undefined if it does not say. */
function learnedKinds({ like }: FieldOptions): (name: string) => RecipeField['kind'] | undefined {
  if (!like) return () => undefined;
  const kinds = new Map(like.recipe?.fields?.map(({ name, kind }) => [name, kind]));
  const isKnown = fieldsKnown(like);
  return (name) => {
    const kind = kinds.get(name);
    if (kind === 'number' || kind === 'category') return kind;
    // Objects list only what cannot be told from their values.
    return kind === undefined && isKnown(name) ? undefined : 'ignored';
  };
}

/** Whether features of a field that is not listed may have columns. */
export function fieldsKnown({ featureNames, recipe }: Likeness): (name: string) => boolean {
  if (!featureNames) {
    const isTable = recipe?.fields?.some(({ kind }) => kind === 'number' || kind === 'category');
    return () => !isTable;
  }
  const known = new Set<string>();
  for (const name of featureNames) {
    known.add(name);
    for (let at = name.indexOf('='); at >= 0; at = name.indexOf('=', at + 1)) {
      known.add(name.slice(0, at));
    }
  }
  return (name) => known.has(name);
}

function checkNames({ title, names }: TableHead): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new DataError(`${title}: two columns are called ${quote(name)}`);
    seen.add(name);
  }
}

/** The field that an option means: by its name or, failing that, by its number from 1. */
function placeOf(head: TableHead, given: string | number, option: string): number {
  const { names, title } = head;
  const place = names.indexOf(`${given}`);
  if (place >= 0) return place;
  if (/^[1-9]\d*$/.test(`${given}`) && Number(given) <= names.length) return Number(given) - 1;
  throw new UsageError(
    `--${option} ${clip(`${given}`)}: no such column in ${title}, ${listed(names)}`,
  );
}

function labelPlace(head: TableHead, options: FieldOptions): number | undefined {
  const { names, title } = head;
  const { label, like, ignore = [] } = options;
  if (label !== undefined) return placeOf(head, label, 'label');
  const learned = like?.recipe?.fields?.find(({ kind }) => kind === 'label');
  if (learned) {
    const place = present(names, learned.name);
    if (place !== undefined || isLabelOptional(options)) return place;
    throw new DataError(
      `${title}: no column ${quote(learned.name)}, which has the labels of the training data (name it with --label COLUMN), ${listed(names)}`,
    );
  }
  const lower = names.map((name) => name.toLowerCase());
  for (const name of labelNames) {
    const place = lower.indexOf(name);
    if (place >= 0 && !ignore.includes(names[place])) return place;
  }
  if (like && isLabelOptional(options)) return undefined;
  throw new DataError(
    `${title}: no column called ${labelNames.slice(0, -1).join(', ')} or ${labelNames.at(-1)} (name it with --label COLUMN), ${listed(names)}`,
  );
}

function weightPlace(head: TableHead, options: FieldOptions): number | undefined {
  const { weight, like, ignore = [], categorical = [], label } = options;
  if (weight !== undefined) return placeOf(head, weight, 'weight');
  const fields = like?.recipe?.fields;
  const learned = fields?.find(({ kind }) => kind === 'weight');
  const name = fields ? learned?.name : 'weight';
  const spoken = [...ignore, ...categorical, label].includes(name);
  return name === undefined || spoken ? undefined : present(head.names, name);
}

function present(names: readonly string[], name: string): number | undefined {
  const place = names.indexOf(name);
  return place < 0 ? undefined : place;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, shownNames).map(clip).join(', ');
  return `whose columns are ${shown}${names.length > shownNames ? ', …' : ''}`;
}

/** The names that have a column before any record is read: those of the numbers. */
export function seedNames({ fields }: TablePlan): string[] {
  return fields.filter(({ kind }) => kind === 'number').map(({ name }) => name);
}

/** What a person should know of the choices made. */
export function planNotices(plan: TablePlan, format: string, options: FieldOptions): string[] {
  const having = (wanted: RecipeField['kind']) =>
    plan.fields.filter(({ kind }) => kind === wanted).map(({ name }) => name);
  const [label] = having('label');
  const [weight] = having('weight');
  const roles = [
    label === undefined ? 'no label' : `label column ${quote(label)}`,
    ...(weight === undefined ? [] : [`weight column ${quote(weight)}`]),
    `${having('number').length} numeric and ${having('category').length} categorical columns`,
  ];
  return [`read as ${format}: ${roles.join(', ')}`, ...foreignNotices(plan, options)];
}

/** Where the fields are not those of the other data. */
function foreignNotices({ fields }: TablePlan, { like, ignore = [] }: FieldOptions): string[] {
  if (!like) return [];
  const known = like.recipe?.fields ?? [];
  const ours = new Set(fields.map(({ name }) => name));
  const theirs = new Set(known.map(({ name }) => name));
  const fresh = fields.filter(
    ({ name, kind }) => kind === 'ignored' && !theirs.has(name) && !ignore.includes(name),
  );
  const absent = known.filter(
    ({ name, kind }) => (kind === 'number' || kind === 'category') && !ours.has(name),
  );
  const notices: string[] = [];
  if (fresh.length > 0)
    notices.push(`ignored ${columns(fresh)}, which the training data does not have`);
  if (absent.length > 0)
    notices.push(`no ${columns(absent)}, which the training data has: its values count as 0`);
  return notices;
}

function columns(fields: readonly RecipeField[]): string {
  const names = fields.slice(0, 3).map(({ name }) => quote(name));
  const more = fields.length > 3 ? ' …' : '';
  return `column${fields.length > 1 ? 's' : ''} ${names.join(', ')}${more}`;
}

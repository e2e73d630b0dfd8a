import { DataError, UsageError } from '../../errors.ts';
import type { DatasetSchema, Recipe, RecipeField } from '../dataset.ts';
import { clip, listNames, quote } from '../read/line-error.ts';
import {
  datesOf,
  defaultLabel,
  type FieldOptions,
  isLabelOptional,
  knownCategories,
  labelNameList,
  type MissingRules,
  missingTexts,
  missingValuesOf,
} from './options.ts';
import { isTableSchema } from './row-rules.ts';

/** What becomes of the fields of a table, one after the other. Plain data, which threads receive. */
export interface TablePlan extends MissingRules {
  readonly fields: readonly RecipeField[];
  /** Fields of a table that the model was trained on and this one does not have. */
  readonly lacking?: readonly string[];
  readonly missing: NonNullable<Recipe['missing']>;
  readonly textLabels: boolean;
  /** Whether rows may lack a label. */
  readonly labelOptional: boolean;
}

/** A table as its first records show it. */
export interface TableHead {
  /** For messages: a file, with the line of the names if there is one. */
  readonly title: string;
  readonly names: readonly string[];
  /** Whether all sampled values of the field are numbers. */
  isNumeric(field: number): boolean;
  /** Whether all of them are dates. */
  isDate?(field: number): boolean;
  /** Whether they only tell records apart: texts of which no two are equal, or 5, 6, 7, … */
  isIdentifier?(field: number): boolean;
}

export function planTable(head: TableHead, options: FieldOptions): TablePlan {
  checkNames(head);
  const { like, textLabels = false } = options;
  const kinds = new Map<number, RecipeField['kind']>();
  const setKinds = (names: readonly string[], option: string, kind: RecipeField['kind']) => {
    for (const name of names) kinds.set(fieldIndex(head, name, option), kind);
  };
  setKinds(options.categorical ?? [], 'categorical', 'category');
  setKinds(options.ignore ?? [], 'ignore', 'ignored');
  const weight = weightField(head, options);
  if (weight !== undefined) kinds.set(weight, 'weight');
  const label = labelField(head, options);
  if (label !== undefined) kinds.set(label, 'label');
  if (label !== undefined && label === weight) {
    throw new UsageError(`column ${quote(head.names[label])} is both label and weight`);
  }
  const learned = learnedKinds(options);
  const dates = datesOf(like);
  const keep = new Set(options.keep?.map((name) => fieldIndex(head, name, 'keep')));
  const fieldOf = (name: string, field: number): RecipeField => {
    const kind = kinds.get(field) ?? learned(name);
    const isDate = like ? dates.has(name) : !head.isNumeric(field) && head.isDate?.(field);
    if (isDate && (kind === undefined || kind === 'number')) {
      return { name, kind: 'number', date: true };
    }
    return { name, kind: kind ?? (head.isNumeric(field) ? 'number' : 'category') };
  };
  const all = head.names.map(fieldOf);
  const isFeature = ({ kind }: RecipeField) => kind === 'number' || kind === 'category';
  const isLeftOut = (one: RecipeField, field: number) =>
    !like && !kinds.has(field) && !keep.has(field) && !one.date && head.isIdentifier?.(field);
  const rest = all.map(
    (one, field): RecipeField =>
      isLeftOut(one, field) ? { name: one.name, kind: 'ignored', identifier: true } : one,
  );
  // A column that is the only feature is what there is to learn from.
  const fields = rest.some(isFeature) ? rest : all;
  const missing = like?.recipe?.missing ?? options.missing ?? 'indicator';
  const missingValues = missingValuesOf(options);
  const features = like?.featureNames && new Set(like.featureNames);
  const countsAsMissing = (name: string) =>
    missing === 'error' || (features?.has(`${name}=?`) ?? true);
  return {
    fields,
    ...(like && { lacking: lackingFields(head.names, like).filter(countsAsMissing) }),
    missing,
    missingTexts: [...missingTexts, ...missingValues],
    ...(like && { knownCategories: knownCategories(like, missingValues) }),
    textLabels: textLabels || like?.labelNames !== undefined,
    labelOptional: isLabelOptional(options),
  };
}

/** Features by their own names, as a column `city=Paris`, are values of the field. */
function lackingFields(names: readonly string[], like: DatasetSchema): string[] {
  if (!isTableSchema(like)) return [];
  const ours = new Set(names);
  const isThere = (field: string) =>
    ours.has(field) ||
    names.some((name) => /^[=.[]/.test(name.slice(field.length)) && name.startsWith(field));
  const isFeature = ({ kind }: RecipeField) => kind === 'number' || kind === 'category';
  const features = namesOf(like.recipe?.fields?.filter(isFeature) ?? []);
  return features.filter((name) => !isThere(name));
}

/** What other data made of a field, other than label and weight; undefined if it does not say. */
function learnedKinds({ like }: FieldOptions): (name: string) => RecipeField['kind'] | undefined {
  if (!like) return () => undefined;
  const kinds = new Map(like.recipe?.fields?.map(({ name, kind }) => [name, kind]));
  const featureKind = featureKinds(like);
  return (name) => {
    const kind = kinds.get(name);
    if (kind === 'number' || kind === 'category') return kind;
    // JSON lines list only the fields that their values do not explain.
    return kind === undefined ? featureKind(name) : 'ignored';
  };
}

/** The kind of a field that is not listed, by its features there; undefined if it may be either. */
function featureKinds(like: DatasetSchema): (name: string) => RecipeField['kind'] | undefined {
  const { featureNames } = like;
  if (!featureNames) {
    const isTable = isTableSchema(like);
    return () => (isTable ? 'ignored' : undefined);
  }
  const numbers = new Set(featureNames);
  const categories = new Set<string>();
  for (const name of featureNames) {
    for (let at = name.indexOf('='); at >= 0; at = name.indexOf('=', at + 1)) {
      if (name.slice(at) !== '=?') categories.add(name.slice(0, at));
    }
  }
  return (name) => {
    if (numbers.has(name)) return categories.has(name) ? undefined : 'number';
    if (categories.has(name)) return 'category';
    return numbers.has(`${name}=?`) ? undefined : 'ignored';
  };
}

function checkNames({ title, names }: TableHead): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw new DataError(`${title}: two columns are called ${quote(name)}`);
    seen.add(name);
  }
}

/** The field that an option means: by its name or, failing that, by its number from 1. */
function fieldIndex(head: TableHead, given: string | number, option: string): number {
  const { names, title } = head;
  const field = names.indexOf(`${given}`);
  if (field >= 0) return field;
  if (/^[1-9]\d*$/.test(`${given}`) && Number(given) <= names.length) return Number(given) - 1;
  throw new UsageError(
    `--${option} ${clip(`${given}`)}: no such column in ${title}; the columns are ${listNames(names)}`,
  );
}

function labelField(head: TableHead, options: FieldOptions): number | undefined {
  const { names, title } = head;
  const { label, like } = options;
  if (label !== undefined) return fieldIndex(head, label, 'label');
  const learned = like?.recipe?.fields?.find(({ kind }) => kind === 'label');
  if (learned) {
    const field = present(names, learned.name);
    if (field !== undefined || isLabelOptional(options)) return field;
    throw new DataError(
      `${title}: no column ${quote(learned.name)}, which has the labels of the training data (name it with --label COLUMN); the columns are ${listNames(names)}`,
    );
  }
  const found = defaultLabel(names, options);
  if (found >= 0) return found;
  if (like && isLabelOptional(options)) return undefined;
  throw new DataError(
    `${title}: no column called ${labelNameList} (name it with --label COLUMN); the columns are ${listNames(names)}`,
  );
}

function weightField(head: TableHead, options: FieldOptions): number | undefined {
  const { weight, like, ignore = [], categorical = [], label } = options;
  if (weight !== undefined) return fieldIndex(head, weight, 'weight');
  const fields = like?.recipe?.fields;
  const learned = fields?.find(({ kind }) => kind === 'weight');
  const name = fields ? learned?.name : 'weight';
  const isTaken = [...ignore, ...categorical, label].includes(name);
  return name === undefined || isTaken ? undefined : present(head.names, name);
}

function present(names: readonly string[], name: string): number | undefined {
  const field = names.indexOf(name);
  return field < 0 ? undefined : field;
}

/** Numeric fields have a column before any record is read. */
export function seedNames({ fields }: TablePlan): string[] {
  return namesOf(fields.filter(({ kind }) => kind === 'number'));
}

function namesOf(fields: readonly RecipeField[]): string[] {
  return fields.map(({ name }) => name);
}

/** What a person should know of the choices made. */
export function planNotices(plan: TablePlan, format: string, options: FieldOptions): string[] {
  const having = (role: RecipeField['kind']) =>
    namesOf(plan.fields.filter(({ kind }) => kind === role));
  const [label] = having('label');
  const [weight] = having('weight');
  const roles = [
    label === undefined ? 'no label' : `label column ${quote(label)}`,
    ...(weight === undefined ? [] : [`weight column ${quote(weight)}`]),
    `${having('number').length} numeric and ${having('category').length} categorical columns`,
  ];
  const own = options.like ? [] : ownNotices(plan);
  return [`read as ${format}: ${roles.join(', ')}`, ...own, ...mismatchNotices(plan, options)];
}

/** Columns that are read in a way of their own. */
function ownNotices({ fields }: TablePlan): string[] {
  const identifiers = namesOf(fields.filter(({ identifier }) => identifier));
  const dates = namesOf(fields.filter(({ date }) => date));
  const notices: string[] = [];
  if (identifiers.length > 0) {
    const differ = identifiers.length === 1 ? 'differs' : 'differ';
    notices.push(
      `left out ${columns(identifiers)}, which ${differ} in every row (--keep ${identifiers.join(',')})`,
    );
  }
  if (dates.length > 0) notices.push(`${columns(dates)}: dates, as days since 1970-01-01`);
  return notices;
}

/** Differences between the fields and those of the training data. */
function mismatchNotices({ fields }: TablePlan, { like, ignore = [] }: FieldOptions): string[] {
  if (!like) return [];
  const theirs = new Set(namesOf(like.recipe?.fields ?? []));
  const isNew = ({ name, kind }: RecipeField) =>
    kind === 'ignored' && !theirs.has(name) && !ignore.includes(name);
  const unknown = namesOf(fields.filter(isNew));
  const lacking = lackingFields(namesOf(fields), like);
  const notices: string[] = [];
  if (unknown.length > 0)
    notices.push(`ignored ${columns(unknown)}, which the training data does not have`);
  if (lacking.length > 0)
    notices.push(`no ${columns(lacking)}, which the training data has: taken as missing values`);
  return notices;
}

function columns(names: readonly string[]): string {
  const shown = names.slice(0, 3).map(quote).join(', ');
  return `column${names.length > 1 ? 's' : ''} ${shown}${names.length > 3 ? ' …' : ''}`;
}

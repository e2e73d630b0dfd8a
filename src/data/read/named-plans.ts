import { DataError, UsageError } from '../../errors.ts';
import type { TextFormat } from '../text/formats.ts';
import type { Collector } from './collector.ts';
import type { PartsOptions } from './pieces.ts';

/** Plans how text with names for columns is read; the first file decides for the others. */
export class NamedPlans {
  readonly #options: PartsOptions;
  readonly #collector: Collector;
  #first: { readonly format: string; readonly name: string; readonly plan: unknown } | undefined;

  constructor(options: PartsOptions, collector: Collector) {
    this.#options = options;
    this.#collector = collector;
  }

  /** `head` has whole records of the file `name`. */
  plan(head: Uint8Array, name: string, format: TextFormat): unknown {
    this.checkFormat(format.title, name);
    if (this.#first) {
      const { plan } = this.#first;
      return format.planNext?.(head, name, this.#options, plan) ?? plan;
    }
    const plan = format.plan(head, name, this.#options);
    const recipe = format.recipe(plan, this.#options);
    if (recipe) this.#collector.recipe = recipe;
    this.#collector.notices.push(...format.notices(plan, this.#options));
    this.#first = { format: format.title, name, plan };
    return plan;
  }

  checkFormat(format: string, name: string): void {
    checkNamedFormat(this.#options, name, format);
    if (!this.#first || this.#first.format === format) return;
    const other = `${this.#first.name} is ${this.#first.format}`;
    throw new DataError(`${name}: ${format}, but ${other}; expected files of one format`);
  }
}

/** Whether the options can be met by a format whose columns have names. */
export function checkNamedFormat(options: PartsOptions, name: string, format: string): void {
  const { like, isShard, float64 } = options;
  if (isShard) {
    throw new UsageError(
      `${name}: ${format} has names for columns, which several processes cannot number alike; convert it first (dso convert DATA -o data.dsob)`,
    );
  }
  if (float64 === 'all') {
    throw new DataError(`${name}: float64 values come from LIBSVM text alone; this is ${format}`);
  }
  if (like && !like.featureNames && like.recipe?.hashBits === undefined) {
    throw new DataError(
      `${name}: ${format} has names for columns, but the training data had numbers; expected LIBSVM text or .dsob`,
    );
  }
}

import { DataError } from '../../errors.ts';
import type { DatasetPart } from '../dataset.ts';
import type { NamedRows } from '../fields/named-rows.ts';
import { recipeOf } from '../fields/options.ts';
import { planNotices } from '../fields/table-plan.ts';
import type { Collector } from '../read/collector.ts';
import type { PartsOptions } from '../read/options.ts';
import { planColumns, TableBlocks } from '../tables/table.ts';
import type { Table } from './table.ts';

/** Hands the rows of tables on, one table after the other; all of them have the same columns. */
export class TableReader {
  readonly #collector: Collector;
  readonly #options: PartsOptions;
  #blocks: TableBlocks | undefined;

  constructor(collector: Collector, options: PartsOptions) {
    this.#collector = collector;
    this.#options = options;
  }

  /** `format` is for messages: the kind of table. */
  async read(table: Table, format: string): Promise<void> {
    this.#blocks ??= this.#begin(table, format);
    for await (const block of this.#blocks.of(table)) {
      await this.#options.takePart(this.#settled(table, block));
    }
  }

  #begin(table: Table, format: string): TableBlocks {
    this.#check(table, format);
    const plan = planColumns(table, this.#options);
    this.#collector.isNamed = true;
    this.#collector.recipe = recipeOf(this.#options, plan.fields);
    this.#collector.notices.push(...planNotices(plan, format, this.#options));
    return new TableBlocks(table, plan);
  }

  #check({ title }: Table, format: string): void {
    const { like, wide } = this.#options;
    if (wide === 'all') {
      throw new DataError(
        `${title}: float64 values are kept of LIBSVM text alone; this is ${format}`,
      );
    }
    if (like && !like.featureNames && like.recipe?.hashBits === undefined) {
      throw new DataError(
        `${title}: ${format} has names for columns, but the training data had numbers; expected LIBSVM text or .dsob`,
      );
    }
  }

  /** Gives the rows their final columns; what is wrong with that does not know of the table. */
  #settled({ title }: Table, rows: NamedRows): DatasetPart {
    try {
      return this.#collector.addNamed(rows);
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      throw new DataError(`${title}: ${error.message}`, { cause: error });
    }
  }
}

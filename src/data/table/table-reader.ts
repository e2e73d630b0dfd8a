import { UsageError } from '../../errors.ts';
import type { Collector } from '../collector.ts';
import { planNotices } from '../fields/plan.ts';
import type { PartsOptions } from '../read-options.ts';
import type { Table } from './table.ts';
import { planColumns, TableBlocks } from './table-blocks.ts';

/** Hands the rows of tables on, one table after the other; all of them have the same columns. */
export class TableReader {
  readonly #collector: Collector;
  readonly #options: PartsOptions;
  #blocks: TableBlocks | undefined;

  constructor(collector: Collector, options: PartsOptions) {
    this.#collector = collector;
    this.#options = options;
  }

  /** `format` is for the notice that tells how the first table is read. */
  async read(table: Table, format: string): Promise<void> {
    this.#blocks ??= this.#begin(table, format);
    for await (const block of this.#blocks.of(table)) {
      await this.#options.takePart(this.#collector.addNamed(block));
    }
  }

  #begin(table: Table, format: string): TableBlocks {
    const { hashBits = this.#options.like?.recipe?.hashBits, wide } = this.#options;
    if (wide === 'all') {
      throw new UsageError(
        `${table.title}: float64 values are kept of LIBSVM text alone, not of ${format}`,
      );
    }
    const plan = planColumns(table, this.#options);
    const { fields, missing } = plan;
    this.#collector.recipe = { fields, missing, ...(hashBits !== undefined && { hashBits }) };
    this.#collector.notices.push(...planNotices(plan, format, this.#options));
    return new TableBlocks(table, plan);
  }
}

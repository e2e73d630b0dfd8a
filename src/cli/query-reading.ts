import type { Progress } from '../apps/cli/progress.ts';
import type { Dataset } from '../data/dataset.ts';
import type { Likeness } from '../data/recipe.ts';
import { UsageError } from '../errors.ts';
import type { DataFlags } from './definitions/data-options.ts';
import { readOptions } from './reading.ts';

/** Data is a file or the answer to a query: what was asked for, if it is one of them. */
export function chooseSource(
  data: string | undefined,
  sql: string | undefined,
): { readonly data: string } | { readonly sql: string } {
  if (data !== undefined && sql !== undefined) {
    throw new UsageError(`${data} and --sql; expected one of them`);
  }
  if (sql !== undefined) return { sql };
  if (data !== undefined) return { data };
  throw new UsageError("missing required argument 'data', or --sql with a query");
}

/** Reads the rows of a query as the options say and passes on what there is to note about them. */
export async function readQueryData(
  sql: string,
  flags: DataFlags,
  progress: Progress,
  like?: Likeness,
): Promise<Dataset> {
  progress.stage('running the query');
  const { readQuery } = await import('../data/tables/query.ts');
  const dataset = await readQuery(sql, { ...readOptions(flags), ...(like && { like }) });
  for (const notice of dataset.notices) progress.notice(`${dataset.name}: ${notice}`);
  return dataset;
}

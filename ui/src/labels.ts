import { formatNumber } from '../../src/compare/numbers.ts';
import type { RunSummary } from '../../src/runs/record.ts';
import { dataName, lambdaOf, shortId, solverOf } from './summary.ts';

/** Names for runs that are shown together: what they differ in, and the ID where that is not all. */
export function labelsOf(runs: readonly RunSummary[]): ReadonlyMap<string, string> {
  const parts = runs.map(partsOf);
  const differing = parts[0]?.map((_, part) => new Set(parts.map((of) => of[part])).size > 1) ?? [];
  const texts = parts.map((of) => {
    const kept = of.filter((text, part) => differing[part] && text !== '');
    return kept.length > 0 ? kept.join(' · ') : solverOf(runs[parts.indexOf(of)]);
  });
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return new Map(
    runs.map(({ id }, index) => {
      const text = texts[index];
      return [id, times.get(text) === 1 ? text : `${text} · ${shortId(id)}`];
    }),
  );
}

function partsOf(run: RunSummary): string[] {
  const lambda = lambdaOf(run);
  return [
    dataName(run),
    solverOf(run),
    run.start.loss,
    run.start.penalty,
    lambda === undefined ? '' : `λ ${formatNumber(lambda)}`,
  ];
}

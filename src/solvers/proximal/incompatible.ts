import type { ProblemSummary } from '../solver.ts';

/** What the method cannot solve, and why. */
export function proximalIncompatibility({ loss }: ProblemSummary): string | undefined {
  if (loss.conjugateCurvature) return undefined;
  return `loss '${loss.name}': it needs the function conjugateCurvature, the second derivative of the conjugate`;
}

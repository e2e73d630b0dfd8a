import { leastObjective } from '../../problem/losses/index.ts';
import type { Bounds, Verification } from '../../train/verify/verify.ts';
import { type Colours, formatCount, formatGapUp } from '../format.ts';

/** What `dso verify` prints: the claim, what is proved, and whether that is enough. */
export function describeVerification(
  verification: Verification,
  loss: Parameters<typeof leastObjective>[0],
  { bold, green, red }: Colours,
): string {
  const { confirmed, from, claimed, proved } = verification;
  const least = leastObjective(loss);
  const source = from === 'dual-point' ? 'the kept dual point' : 'the weights';
  return [
    `claimed  ${describeBounds(claimed, least)}`,
    `proved   ${describeBounds(proved, least)}, from ${source}`,
    (confirmed ? green : red)(bold(verdict(verification))),
  ].join('\n');
}

/** Every digit counts here. Rounding errors may have put the bound below what no objective is below. */
function describeBounds({ primal, dual, relativeGap }: Bounds, least: number): string {
  if (!(dual > -Infinity)) return `objective ${primal}, no lower bound`;
  const bound = Math.max(dual, least);
  // Between 0 and P no gap is larger than P.
  const gap = formatGapUp(dual > least ? relativeGap : Math.min(relativeGap, 1));
  return `objective ${primal}, optimum at least ${bound}, relative gap ${gap}`;
}

function verdict(verification: Verification): string {
  const { confirmed, from, claimed, proved } = verification;
  if (!confirmed) return `NOT confirmed: ${faultOf(verification)}`;
  if (claimed.dual === -Infinity) return 'objective confirmed; the model claims no lower bound';
  if (from === 'dual-point') return 'confirmed: the certificate holds';
  if (proved.relativeGap <= claimed.relativeGap) {
    return 'confirmed: the certificate holds, and follows from the weights';
  }
  return `objective confirmed; the weights alone prove a relative gap of ${formatGapUp(proved.relativeGap)} (dso train --keep-dual keeps what proves the claimed one)`;
}

function faultOf({ from, vectors = [], claimed, proved }: Verification): string {
  const isGood = ({ agrees, proves }: (typeof vectors)[number]) =>
    agrees && (proves || from === 'weights');
  const failed = vectors.flatMap((vector, index) =>
    isGood(vector) ? [] : [formatCount(index + 1)],
  );
  if (failed.length > 0) return `weight vector ${failed.join(', ')} of ${vectors.length}`;
  return from === 'dual-point'
    ? 'the model claims more than this dual point and its weights prove'
    : `the objective is ${proved.primal}, not ${claimed.primal}, or the figures of the model do not fit each other`;
}

import type { Bounds, Verification } from '../../train/verify/verify.ts';
import { type Colours, formatCount, formatGapUp, formatNumber } from '../format.ts';

/** What `dso verify` prints: the claim, what is proved, and whether that is enough. */
export function describeVerification(
  verification: Verification,
  { bold, green, red }: Colours,
): string {
  const { confirmed, from, claimed, proved, vectors } = verification;
  const source = from === 'dual-point' ? 'the kept dual point' : 'the weights';
  const lines = [
    `claimed  ${describeBounds(claimed)}`,
    `proved   ${describeBounds(proved)}, from ${source}`,
    (confirmed ? green : red)(bold(verdict(verification))),
  ];
  if (confirmed || !vectors) return lines.join('\n');
  const failed = vectors.flatMap(({ agrees, proves }, index) =>
    agrees && (proves || from === 'weights') ? [] : [formatCount(index + 1)],
  );
  return `${lines.join('\n')}\nnot confirmed: vector ${failed.join(', ')} of ${vectors.length}`;
}

/** Every digit counts here. */
function describeBounds({ primal, dual, relativeGap }: Bounds): string {
  return `objective ${primal}, optimum at least ${dual}, relative gap ${formatGapUp(relativeGap)}`;
}

function verdict({ confirmed, from, claimed, proved }: Verification): string {
  if (from === 'dual-point') {
    return confirmed
      ? 'confirmed: the certificate holds'
      : 'NOT confirmed: the certificate claims more than this dual point and these weights prove';
  }
  if (confirmed && proved.relativeGap <= claimed.relativeGap) {
    return 'confirmed: the certificate holds, and follows from the weights';
  }
  return confirmed
    ? `objective confirmed; the weights alone prove a relative gap of ${formatGapUp(proved.relativeGap)} (dso train --keep-dual keeps what proves the claimed one)`
    : `NOT confirmed: the objective is ${formatNumber(proved.primal)}, not ${formatNumber(claimed.primal)}`;
}

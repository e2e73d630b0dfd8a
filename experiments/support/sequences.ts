import { type Random, stream } from '../../src/math/random.ts';

/** Sequences of equal length over A, C, G and T, with labels −1 and +1. */
export interface Sequences {
  readonly name: string;
  readonly length: number;
  readonly labels: Float64Array;
  /** One letter a byte, as in the file, one sequence after the other. */
  readonly letters: Uint8Array;
}

const alphabet = 'ACGT';

/** Shares of A, C, G and T in the genome of C. elegans, about. */
const background = [0.32, 0.18, 0.19, 0.31];

/** A run of T, then CAG: what precedes an acceptor site in C. elegans. */
const motif = 'TTTTTCAG';

/** How often a letter of the motif is the motif's own, in true sites. */
const faithful = 0.8;

/** Part of the sequences that are true sites, as in the real data. */
const positiveShare = 0.033;

/** Distinguishes this use of a seed from all others. */
const sequenceStream = 0x5ec0;

function drawLetter(random: Random): number {
  let at = random.uniform();
  let letter = 0;
  while (letter < 3 && at >= background[letter]) at -= background[letter++];
  return alphabet.charCodeAt(letter);
}

/** Puts a noisy copy of the motif before `end`. */
function plantMotif(random: Random, sequence: Uint8Array, end: number): void {
  for (let k = 1; k <= motif.length; k++) {
    if (random.uniform() < faithful) sequence[end - k] = motif.charCodeAt(motif.length - k);
  }
}

/**
 * Sequences to use if the real ones are missing: letters drawn by their share in the
 * genome, AG in the middle of each, and before it in true sites a noisy copy of the motif.
 */
export function plantedSequences(
  count: number,
  length: number,
  seed: number,
  name: string,
): Sequences {
  const random = stream(seed, sequenceStream);
  const labels = new Float64Array(count);
  const letters = new Uint8Array(count * length);
  const end = Math.floor(length / 2);
  for (let row = 0; row < count; row++) {
    // The first two make sure that both classes are there, however few rows.
    const positive = row < 2 ? row === 0 : random.uniform() < positiveShare;
    labels[row] = positive ? 1 : -1;
    const sequence = letters.subarray(row * length, (row + 1) * length);
    for (let k = 0; k < length; k++) sequence[k] = drawLetter(random);
    if (positive) plantMotif(random, sequence, end);
    sequence[end - 2] = 'A'.charCodeAt(0);
    sequence[end - 1] = 'G'.charCodeAt(0);
  }
  return { name, length, labels, letters };
}

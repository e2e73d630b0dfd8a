import { SpinWait } from './spin-wait.ts';
import { type Team, tokenStride } from './team.ts';

/**
 * The block that worker q owns in inner iteration r: σ_r(q) = ((q + r − 2) mod p) + 1 of the
 * paper, with workers, blocks and iterations counted from 0.
 */
export function blockAt(worker: number, iteration: number, size: number): number {
  return (worker + iteration) % size;
}

/** A way for every worker to meet every block once, no two workers holding the same one. */
export interface Rotation {
  rotate(visit: (worker: number, block: number) => void): void;
}

/**
 * Blocks travel round a ring of workers: in p inner iterations every worker meets every block, and
 * two workers never hold the same one. A block passes from worker q+1 to worker q as soon as q+1
 * has done with it; there is no barrier. On threads only the right to touch the block moves.
 *
 * Because each block meets the workers in a fixed order and a visit touches nothing but the
 * visitor's rows and the block, the result is the one of the serial order of Lemma 1, whatever
 * the number of threads.
 */
export class Ring implements Rotation {
  readonly #team: Team;
  readonly #wait: SpinWait;
  #visits = 0;

  constructor(team: Team) {
    this.#team = team;
    this.#wait = new SpinWait(team.shared.spins);
  }

  /** One rotation: p inner iterations. */
  rotate(visit: (worker: number, block: number, iteration: number) => void): void {
    const { first, end, shared } = this.#team;
    const { workers, tokens, trace } = shared;
    for (let iteration = 0; iteration < workers; iteration++) {
      for (let worker = first; worker < end; worker++) {
        const block = blockAt(worker, iteration, workers);
        const at = block * tokenStride;
        this.#receive(tokens, at, this.#visits + iteration);
        if (trace) {
          const n = Atomics.add(trace, 0, 1);
          trace[1 + 2 * n] = worker;
          trace[2 + 2 * n] = block;
        }
        visit(worker, block, iteration);
        Atomics.store(tokens, at, this.#visits + iteration + 1);
        if (shared.threads > 1) Atomics.notify(tokens, at);
      }
    }
    this.#visits += workers;
  }

  /** Waits until the block has completed `turn` visits. It cannot have completed more. */
  #receive(tokens: Int32Array, at: number, turn: number): void {
    for (;;) {
      const seen = Atomics.load(tokens, at);
      if (seen === turn) return;
      this.#wait.whileEqual(tokens, at, seen);
    }
  }
}

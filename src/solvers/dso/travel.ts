import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields, Rotation } from '../../engine/ring.ts';
import { saddleStride, saddleSlot as slot } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns } from '../whole.ts';
import type { DsoSettings } from './state.ts';

/** Of a column's line, what every process keeps: numbers that never change, and the snapshot of w. */
const kept = [slot.share, slot.low, slot.high, slot.snapshot] as const;

/** The numbers that steps change, which go home with the block, and those that are only new in an epoch. */
function travelling({ step, svrg }: DsoSettings) {
  const changed = step === 'adagrad' ? [slot.weight, slot.squares] : [slot.weight];
  return { changed, all: svrg ? [...changed, slot.gradient] : changed };
}

export type TravelMemory = ReturnType<typeof allocateTravel>;

export function allocateTravel(arena: Arena, partition: Partition, settings: DsoSettings) {
  const { first, end, size, bufferLength } = partition;
  const travels = end - first < size;
  return {
    messages: arena.float64(travels ? travelling(settings).all.length * bufferLength : 0),
    kept: arena.float64(travels ? kept.length * allColumns(partition) : 0),
  };
}

/**
 * How blocks of columns get from one process to the next: with w, AdaGrad's sum and the gradient of the
 * snapshot, 8 bytes each, of which the last does not come home. What never changes was sent in a first
 * rotation. The snapshot is the w that was there when its margins were computed. Every process keeps both.
 */
export class Travel {
  readonly #context: SolverContext;
  readonly #lines: readonly Float64Array[];
  readonly #kept: Float64Array;
  readonly #slots: readonly number[];
  readonly #messages: readonly Float64Array[];
  readonly #fields: BlockFields;
  readonly #allFields: BlockFields;

  /** `lines`: of every block. */
  constructor(
    context: SolverContext,
    memory: TravelMemory,
    settings: DsoSettings,
    lines: readonly Float64Array[],
  ) {
    this.#context = context;
    this.#lines = lines;
    this.#kept = memory.kept;
    const { all, changed } = travelling(settings);
    this.#slots = all;
    const { blockOffsets, blockLengths } = context.problem.grid.partition;
    const stride = this.#exchanges ? all.length : 0;
    this.#messages = lines.map((_, block) => {
      const from = stride * blockOffsets[block];
      return memory.messages.subarray(from, from + stride * blockLengths[block]);
    });
    const { ring } = context;
    const views = (block: number, numbers: number) => {
      const length = this.#exchanges ? numbers * blockLengths[block] : 0;
      return [this.#messages[block].subarray(0, length)];
    };
    this.#allFields = ring.readFields((block) => [lines[block]]);
    this.#fields = ring.fields(
      (block) => views(block, all.length),
      (block) => views(block, changed.length),
    );
  }

  get #exchanges(): boolean {
    return this.#context.team.link.exchangesBlocks;
  }

  /** Once the lines of home blocks are filled: every process learns what never changes. */
  learnConstants(): void {
    if (!this.#exchanges) return;
    const { ring, team } = this.#context;
    ring.rotate(this.#allFields, (worker, block) => {
      if (this.#hasArrived(worker, block)) this.#copyKept(block, true);
    });
    team.barrier();
  }

  /** Called when a worker meets the w of a block that will be its snapshot. */
  keepSnapshot(worker: number, block: number, weights: Float64Array): void {
    if (!this.#hasArrived(worker, block)) return;
    const part = this.#keptOf(block);
    for (let j = 0, at = kept.indexOf(slot.snapshot); j < weights.length; j++, at += kept.length) {
      part[at] = weights[j];
    }
  }

  /** A rotation in which every worker meets every block. */
  rotate(rotation: Rotation, visit: (worker: number, block: number) => void): void {
    const { team } = this.#context;
    const { first, end } = team.shared;
    rotation.rotate(this.#fields, (worker, block) => {
      if (this.#hasArrived(worker, block)) {
        this.#unpack(block);
        this.#copyKept(block, false);
      }
      visit(worker, block);
      if (this.#exchanges && worker === first) this.#pack(block);
    });
    // The last block comes home to a worker that does not visit it any more.
    if (this.#exchanges && team.end === end) this.#unpack(end - 1);
  }

  /** Blocks come to the last worker of a process, which begins with one of its own. */
  #hasArrived(worker: number, block: number): boolean {
    return this.#exchanges && worker === this.#context.team.shared.end - 1 && block !== worker;
  }

  /** One number of all columns after the other, so that those that go home come first. */
  #pack(block: number): void {
    const [lines, message] = [this.#lines[block], this.#messages[block]];
    let k = 0;
    for (const from of this.#slots) {
      for (let at = from; at < lines.length; at += saddleStride) message[k++] = lines[at];
    }
  }

  /** Of a block that has come home the gradient is the one that it was sent with. */
  #unpack(block: number): void {
    const [lines, message] = [this.#lines[block], this.#messages[block]];
    let k = 0;
    for (const to of this.#slots) {
      for (let at = to; at < lines.length; at += saddleStride) lines[at] = message[k++];
    }
  }

  #keptOf(block: number): Float64Array {
    const { columnBounds } = this.#context.problem.grid.partition;
    const [from, to] = [columnBounds[block], columnBounds[block + 1]];
    return this.#kept.subarray(kept.length * from, kept.length * to);
  }

  /** Between the lines of a block and what the process keeps. */
  #copyKept(block: number, keeps: boolean): void {
    const [lines, part] = [this.#lines[block], this.#keptOf(block)];
    for (let at = 0, k = 0; at < lines.length; at += saddleStride) {
      for (const from of kept) {
        if (keeps) part[k++] = lines[at + from];
        else lines[at + from] = part[k++];
      }
    }
  }
}

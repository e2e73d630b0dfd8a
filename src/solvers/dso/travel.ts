import type { Arena } from '../../engine/arena.ts';
import type { Partition } from '../../engine/partition.ts';
import type { BlockFields, Rotation } from '../../engine/ring.ts';
import { saddleStride, saddleSlot as slot } from '../kernels/kernels.ts';
import type { SolverContext } from '../solver.ts';
import { allColumns } from '../whole.ts';
import type { DsoSettings } from './state.ts';

/** Of a column's line, the numbers that never change. */
const constants = [slot.share, slot.low, slot.high] as const;

/** The numbers that steps change, and those that are new in every epoch. */
function changing({ step, svrg }: DsoSettings): number[] {
  const squares = step === 'adagrad' ? [slot.squares] : [];
  return [slot.weight, ...squares, ...(svrg ? [slot.snapshot, slot.gradient] : [])];
}

export type TravelMemory = ReturnType<typeof allocateTravel>;

export function allocateTravel(arena: Arena, partition: Partition, settings: DsoSettings) {
  const { first, end, size, bufferLength } = partition;
  const travels = end - first < size;
  return {
    messages: arena.float64(travels ? changing(settings).length * bufferLength : 0),
    constants: arena.float64(travels ? constants.length * allColumns(partition) : 0),
  };
}

/**
 * How blocks of columns get from one process to the next: with the numbers of their lines that change, 8
 * bytes each. What never changes was sent in a first rotation, and every process keeps it.
 */
export class Travel {
  readonly #context: SolverContext;
  readonly #lines: readonly Float64Array[];
  readonly #constants: Float64Array;
  readonly #slots: readonly number[];
  readonly #messages: readonly Float64Array[];
  readonly #fields: BlockFields;
  readonly #allFields: BlockFields;

  /** `lines`: of every block; `messages`: as long as its columns times the numbers that change. */
  constructor(
    context: SolverContext,
    memory: TravelMemory,
    settings: DsoSettings,
    lines: readonly Float64Array[],
  ) {
    this.#context = context;
    this.#lines = lines;
    this.#constants = memory.constants;
    this.#slots = changing(settings);
    const { blockOffsets, blockLengths } = context.problem.grid.partition;
    const stride = this.#exchanges ? this.#slots.length : 0;
    this.#messages = lines.map((_, block) => {
      const from = stride * blockOffsets[block];
      return memory.messages.subarray(from, from + stride * blockLengths[block]);
    });
    const { ring } = context;
    this.#allFields = ring.fields((block) => [lines[block]]);
    this.#fields = ring.fields((block) => [this.#messages[block]]);
  }

  get #exchanges(): boolean {
    return this.#context.team.link.exchangesBlocks;
  }

  /** Once the lines of home blocks are filled: every process learns what never changes. */
  learnConstants(): void {
    if (!this.#exchanges) return;
    const { ring, team } = this.#context;
    ring.rotate(this.#allFields, (worker, block) => {
      if (this.#hasArrived(worker, block)) this.#copyConstants(block, true);
    });
    team.barrier();
  }

  /** A rotation in which every worker meets every block. */
  rotate(rotation: Rotation, visit: (worker: number, block: number) => void): void {
    const { team } = this.#context;
    const { first, end } = team.shared;
    rotation.rotate(this.#fields, (worker, block) => {
      if (this.#hasArrived(worker, block)) {
        this.#unpack(block);
        this.#copyConstants(block, false);
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

  #pack(block: number): void {
    const [lines, message, slots] = [this.#lines[block], this.#messages[block], this.#slots];
    for (let at = 0, k = 0; at < lines.length; at += saddleStride) {
      for (let s = 0; s < slots.length; s++) message[k++] = lines[at + slots[s]];
    }
  }

  #unpack(block: number): void {
    const [lines, message, slots] = [this.#lines[block], this.#messages[block], this.#slots];
    for (let at = 0, k = 0; at < lines.length; at += saddleStride) {
      for (let s = 0; s < slots.length; s++) lines[at + slots[s]] = message[k++];
    }
  }

  /** Between the lines of a block and what the process keeps. */
  #copyConstants(block: number, keeps: boolean): void {
    const lines = this.#lines[block];
    const kept = this.#constants;
    const { columnBounds } = this.#context.problem.grid.partition;
    for (let at = 0, k = constants.length * columnBounds[block]; at < lines.length; ) {
      for (let s = 0; s < constants.length; s++, k++) {
        if (keeps) kept[k] = lines[at + constants[s]];
        else lines[at + constants[s]] = kept[k];
      }
      at += saddleStride;
    }
  }
}

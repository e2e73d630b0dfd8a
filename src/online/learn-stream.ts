import { peekUntil } from '../data/peek.ts';
import {
  type ByteChunks,
  compressionOf,
  decompress,
  magicLength,
} from '../data/read/byte-blocks.ts';
import type { Model } from '../model/model.ts';
import { Learning, type LearningOptions } from '../train/stream/learning.ts';
import { Arrivals } from './arrivals.ts';
import type { ProgressiveReport } from './progress.ts';

export interface ProgressiveOptions extends LearningOptions {
  /**
   * When the model is handed on: after so many rows, or seconds, each time, also while no rows come.
   * It may be both.
   */
  readonly snapshot: { readonly rows?: number; readonly seconds?: number };
  readonly onSnapshot: (model: Model) => Promise<void>;
  /** Ends the stream here; what has been learned becomes the model. */
  readonly signal?: AbortSignal;
}

export interface ProgressiveResult {
  readonly model: Model;
  readonly report: ProgressiveReport;
}

/**
 * Learns from rows as they come, each predicted before it is learned, and hands on the model from
 * time to time. Rows are not kept, so nothing is proved about the model.
 */
export async function learnStream(
  source: ByteChunks,
  name: string,
  options: ProgressiveOptions,
): Promise<ProgressiveResult> {
  const { snapshot, onSnapshot, signal } = options;
  const learning = new Learning(name, options);
  const arrivals = new Arrivals(learning.blocks(plainChunks(source, name)), signal);
  const period = 1000 * (snapshot.seconds ?? Infinity);
  let due = performance.now() + period;
  let saved = 0;
  const save = async () => {
    due = performance.now() + period;
    saved = learning.rows;
    if (learning.canBeModel) await onSnapshot(learning.model());
  };
  for (;;) {
    const isAhead = learning.rows > saved;
    const block = await arrivals.next(isAhead ? Math.max(0, due - performance.now()) : Infinity);
    if (block === 'end') break;
    if (block !== 'late') {
      for (const rows of learning.learn(block)) {
        if (snapshot.rows !== undefined && rows % snapshot.rows === 0) await save();
      }
    }
    if (learning.rows > saved && performance.now() >= due) await save();
  }
  return { model: learning.model(), report: learning.report() };
}

async function* plainChunks(source: ByteChunks, name: string): ByteChunks {
  const { head, chunks } = await peekUntil(source, ({ length }) => length >= magicLength);
  yield* decompress(chunks, compressionOf(head, head.length > 0 ? name : ''), name);
}

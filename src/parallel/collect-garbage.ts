import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * A thorough collection of garbage. Shared buffers are freed once no thread refers to them, and a
 * thread notices that only when it collects garbage, for which a thread that trains gives itself no
 * occasion. So it is asked to.
 */
export function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  return typeof collect === 'function' ? () => void collect() : () => {};
}

export function collectGarbage(): void {
  garbageCollector()();
}

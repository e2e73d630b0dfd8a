import { hashName } from '../../math/murmur.ts';

/** So many names are counted exactly; of more, a sample of at most so many is kept. */
const mostKept = 1 << 16;

/**
 * Counts distinct names in bounded memory. A name is kept if the last `#skipped` bits of its
 * fingerprint are zero; whenever too many are kept, one more bit has to be.
 */
export class DistinctCount {
  readonly #kept = new Set<number>();
  #step = 1;

  add(name: string): void {
    const low = hashName(name, 1);
    if (low % this.#step !== 0) return;
    // 52 bits tell so few names apart.
    this.#kept.add(low + (hashName(name, 2) >>> 12) * 2 ** 32);
    while (this.#kept.size > mostKept) this.#thin();
  }

  #thin(): void {
    this.#step *= 2;
    for (const fingerprint of this.#kept) {
      if (fingerprint % this.#step !== 0) this.#kept.delete(fingerprint);
    }
  }

  get exact(): boolean {
    return this.#step === 1;
  }

  /** To within one percent or so, where it is not exact. */
  get count(): number {
    return this.#kept.size * this.#step;
  }
}

import type { MessagePort, Transferable, Worker } from 'node:worker_threads';

/**
 * Of the length of a buffer, and of where an array is in it, a message between threads has 32 bits
 * (V8 13.6): arrays arrive cut short, elsewhere or not at all. Messages with arrays on larger
 * buffers are posted as a copy in which these are described.
 */
const reach = 2 ** 32;

type View = Float64Array | Float32Array | Int32Array | Uint8Array;
type Kind = new (buffer: SharedArrayBuffer, at: number, length: number) => View;
const kinds: Readonly<Record<string, Kind>> = {
  Float64Array,
  Float32Array,
  Int32Array,
  Uint8Array,
};

interface Description {
  readonly largeView: string;
  readonly buffer: SharedArrayBuffer;
  readonly at: number;
  readonly length: number;
}

interface Described {
  readonly described: unknown;
}

/** What structured cloning copies part by part. */
function hasParts(value: object): boolean {
  return Array.isArray(value) || Object.prototype.toString.call(value) === '[object Object]';
}

function isOnLarge(value: object): value is View {
  return ArrayBuffer.isView(value) && value.buffer.byteLength >= reach;
}

function holdsLarge(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  if (!hasParts(value)) return isOnLarge(value);
  seen.add(value);
  return Object.values(value).some((part) => holdsLarge(part, seen));
}

/** A copy of `value` with `replace` applied to all objects that are not copied part by part. */
function copyOf(
  value: unknown,
  replace: (part: object) => unknown,
  copies = new Map<object, unknown>(),
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (copies.has(value)) return copies.get(value);
  const other = replace(value);
  const isCopied = other === value && hasParts(value);
  const copy = isCopied ? (Array.isArray(value) ? [] : {}) : other;
  copies.set(value, copy);
  if (isCopied) {
    for (const [name, part] of Object.entries(value)) {
      (copy as Record<string, unknown>)[name] = copyOf(part, replace, copies);
    }
  }
  return copy;
}

function describe(part: object): unknown {
  if (!isOnLarge(part)) return part;
  const { buffer, byteOffset: at, length, [Symbol.toStringTag]: largeView } = part;
  if (!(largeView in kinds)) throw new Error(`a ${largeView} on more than 4 GiB cannot be posted`);
  return { largeView, buffer, at, length };
}

function restore(part: object): unknown {
  if (!('largeView' in part)) return part;
  const { largeView, buffer, at, length } = part as Description;
  return new kinds[largeView](buffer, at, length);
}

/** Posts a message whose arrays may be anywhere; `received` has it on the other side. */
export function post(
  port: MessagePort | Worker,
  message: unknown,
  transfer: readonly Transferable[] = [],
): void {
  const isDescribed = holdsLarge(message, new Set());
  const posted = isDescribed ? ({ described: copyOf(message, describe) } as Described) : message;
  port.postMessage(posted, transfer);
}

/** What `post` was given. */
export function received(message: unknown): unknown {
  const isDescribed = message instanceof Object && 'described' in message;
  return isDescribed ? copyOf(message.described, restore) : message;
}

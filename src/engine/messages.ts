import type { MessagePort, Transferable, Worker } from 'node:worker_threads';

/**
 * Of where an array begins in its buffer, and of its length in bytes, a message between threads has
 * 32 bits (V8 13.6). Messages with arrays beyond are posted as a copy in which these are described.
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
  readonly farView: string;
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

function isFar(value: object): value is View {
  return ArrayBuffer.isView(value) && (value.byteOffset >= reach || value.byteLength >= reach);
}

function holdsFar(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false;
  if (!hasParts(value)) return isFar(value);
  seen.add(value);
  return Object.values(value).some((part) => holdsFar(part, seen));
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
  if (!isFar(part)) return part;
  const { buffer, byteOffset: at, length, [Symbol.toStringTag]: farView } = part;
  if (!(farView in kinds)) throw new Error(`a ${farView} beyond 4 GiB cannot be posted`);
  return { farView, buffer, at, length };
}

function restore(part: object): unknown {
  if (!('farView' in part)) return part;
  const { farView, buffer, at, length } = part as Description;
  return new kinds[farView](buffer, at, length);
}

/** Posts a message whose arrays may be anywhere; `received` has it on the other side. */
export function post(
  port: MessagePort | Worker,
  message: unknown,
  transfer: readonly Transferable[] = [],
): void {
  const isDescribed = holdsFar(message, new Set());
  const posted = isDescribed ? ({ described: copyOf(message, describe) } as Described) : message;
  port.postMessage(posted, transfer);
}

/** What `post` was given. */
export function received(message: unknown): unknown {
  const isDescribed = message instanceof Object && 'described' in message;
  return isDescribed ? copyOf(message.described, restore) : message;
}

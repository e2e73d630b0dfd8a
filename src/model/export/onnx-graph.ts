/**
 * The messages of onnx.proto that a linear model is made of. Numbers of fields and types are those
 * of the ONNX specification.
 */

/**
 * Messages of Protocol Buffers, as far as ONNX needs them. A message is a list of pieces that are
 * joined once at the end, so that large arrays are not copied at every level.
 */
export type Message = readonly Uint8Array[];

/** Kinds of fields on the wire. */
const varintKind = 0;
const bytesKind = 2;

const encoder = new TextEncoder();

export function lengthOf(pieces: Message): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

/** A message of these fields, in this order. */
export function message(...fields: readonly Message[]): Message {
  return fields.flat();
}

/** A whole number; negative ones as int64 in two's complement. */
export function integer(field: number, value: number): Message {
  return [Uint8Array.from([...varint(field * 8 + varintKind), ...varint(value)])];
}

export function text(field: number, value: string): Message {
  return delimited(field, [encoder.encode(value)]);
}

/** A message inside a message. */
export function nested(field: number, ...fields: readonly Message[]): Message {
  return delimited(field, message(...fields));
}

/** Repeated floats in the packed form. */
export function floats(field: number, values: Float32Array): Message {
  return delimited(field, [littleEndian(values)]);
}

/** Repeated whole numbers in the packed form. */
export function integers(field: number, values: readonly number[]): Message {
  return delimited(field, [Uint8Array.from(values.flatMap((value) => varint(value)))]);
}

export function bytes(field: number, value: Uint8Array): Message {
  return delimited(field, [value]);
}

/** Floats as they lie in the raw data of a tensor. */
export function littleEndian(values: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (const [index, value] of values.entries()) view.setFloat32(4 * index, value, true);
  return new Uint8Array(view.buffer);
}

function delimited(field: number, content: Message): Message {
  const start = [...varint(field * 8 + bytesKind), ...varint(lengthOf(content))];
  return [Uint8Array.from(start), ...content];
}

/** Seven bits a byte, lowest first; the top bit says that more follow. */
function varint(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const digits: number[] = [];
  while (rest > 0x7fn) {
    digits.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return [...digits, Number(rest)];
}

const elementTypes = { float: 1, int64: 7, string: 8 } as const;
export type ElementType = keyof typeof elementTypes;

/** Types of attributes. */
const types = { integer: 2, text: 3, floats: 6, integers: 7, texts: 8 } as const;

const machineLearning = 'ai.onnx.ml';
/** Versions of the operator sets: the oldest that have all operators used here. */
const operatorSets: readonly (readonly [string, number])[] = [
  ['', 13],
  [machineLearning, 1],
];
/** Version of the file format that goes with these operator sets. */
const formatVersion = 7;

export type Attribute = number | string | Float32Array | readonly number[] | readonly string[];

interface Shaped {
  readonly name: string;
  readonly type: ElementType;
  /** A text is the name of a size that is not known before data comes. */
  readonly shape: readonly (number | string)[];
}

export interface NodeOptions {
  readonly domain?: typeof machineLearning;
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

/** A graph that grows node by node. */
export class OnnxGraph {
  readonly #nodes: Message[] = [];
  readonly #constants: Message[] = [];
  readonly #inputs: Message[] = [];
  readonly #outputs: Message[] = [];

  input(value: Shaped): string {
    this.#inputs.push(nested(11, shaped(value)));
    return value.name;
  }

  output(value: Shaped): void {
    this.#outputs.push(nested(12, shaped(value)));
  }

  /** A tensor of floats, by row; the name that nodes call it by. */
  constant(name: string, shape: readonly number[], values: Iterable<number>): string {
    const data = littleEndian(Float32Array.from(values));
    this.#constants.push(
      nested(5, integers(1, shape), integer(2, elementTypes.float), text(8, name), bytes(9, data)),
    );
    return name;
  }

  /** An operator of the general set; the name of what comes out. */
  node(operator: string, inputs: readonly string[], output: string, attributes = {}): string {
    this.#add(operator, inputs, [output], '', attributes);
    return output;
  }

  /** An operator of the set for machine learning. */
  learningNode(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    this.#add(operator, inputs, outputs, machineLearning, attributes);
  }

  #add(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    domain: string,
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    this.#nodes.push(
      nested(
        1,
        ...inputs.map((name) => text(1, name)),
        ...outputs.map((name) => text(2, name)),
        text(3, outputs[0]),
        text(4, operator),
        ...Object.entries(attributes).map(([name, value]) => nested(5, attribute(name, value))),
        text(7, domain),
      ),
    );
  }

  /** The file; `properties` are its metadata. */
  model(producerVersion: string, properties: Readonly<Record<string, string>>): Message[] {
    return [
      integer(1, formatVersion),
      text(2, 'dso'),
      text(3, producerVersion),
      nested(
        7,
        ...this.#nodes,
        text(2, 'linear model'),
        ...this.#constants,
        ...this.#inputs,
        ...this.#outputs,
      ),
      ...operatorSets.map(([domain, version]) => nested(8, text(1, domain), integer(2, version))),
      ...Object.entries(properties).map(([key, value]) => nested(14, text(1, key), text(2, value))),
    ];
  }
}

function shaped({ name, type, shape }: Shaped): Message {
  const sizes = shape.map((size) =>
    nested(1, typeof size === 'number' ? integer(1, size) : text(2, size)),
  );
  const tensor = nested(1, integer(1, elementTypes[type]), nested(2, ...sizes));
  return [...text(1, name), ...nested(2, tensor)];
}

function attribute(name: string, value: Attribute): Message {
  return [...text(1, name), ...attributeValue(value)];
}

function attributeValue(value: Attribute): Message {
  if (typeof value === 'number') return [...integer(3, value), ...integer(20, types.integer)];
  if (typeof value === 'string') return [...text(4, value), ...integer(20, types.text)];
  if (value instanceof Float32Array) return [...floats(7, value), ...integer(20, types.floats)];
  if (typeof value[0] === 'string') {
    return [...value.flatMap((item) => text(9, String(item))), ...integer(20, types.texts)];
  }
  return [...integers(8, value as readonly number[]), ...integer(20, types.integers)];
}

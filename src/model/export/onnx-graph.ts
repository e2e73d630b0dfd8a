/**
 * The messages of onnx.proto that a linear model is made of, as Protocol Buffers. Numbers of fields
 * and types are those of the ONNX specification. A message is a list of pieces that are joined once
 * at the end, so that large arrays are not copied at every level.
 */
type Message = readonly Uint8Array[];

/** Kinds of fields on the wire. */
const varintKind = 0;
const bytesKind = 2;

const encoder = new TextEncoder();

export function lengthOf(pieces: Message): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}

/** A whole number; negative ones as int64 in two's complement. */
function integer(field: number, value: number): Message {
  return [Uint8Array.from([...varint(field * 8 + varintKind), ...varint(value)])];
}

/** A message, or bytes, inside a message. */
function nested(field: number, ...fields: readonly Message[]): Message {
  const content = fields.flat();
  const start = [...varint(field * 8 + bytesKind), ...varint(lengthOf(content))];
  return [Uint8Array.from(start), ...content];
}

function text(field: number, value: string): Message {
  return nested(field, [encoder.encode(value)]);
}

/** Repeated floats in the packed form, which is that of the raw data of a tensor too. */
function floats(field: number, values: Float32Array): Message {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (const [index, value] of values.entries()) view.setFloat32(4 * index, value, true);
  return nested(field, [new Uint8Array(view.buffer)]);
}

/** Repeated whole numbers in the packed form. */
function integers(field: number, values: readonly number[]): Message {
  return nested(field, [Uint8Array.from(values.flatMap(varint))]);
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

/** Types of attributes. */
const types = { integer: 2, text: 3, floats: 6, integers: 7, texts: 8 } as const;

const machineLearning = 'ai.onnx.ml';
/** Those used here that are in the operator set for machine learning, not in the general one. */
const learningOperators = ['LinearClassifier', 'LinearRegressor', 'Normalizer'];
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
  readonly type: keyof typeof elementTypes;
  /** A text is the name of a size that is not known before data comes. */
  readonly shape: readonly (number | string)[];
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
    const data = floats(9, Float32Array.from(values));
    this.#constants.push(
      nested(5, integers(1, shape), integer(2, elementTypes.float), text(8, name), data),
    );
    return name;
  }

  /** Adds an operator; the name of its first output. */
  node(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): string {
    this.#nodes.push(
      nested(
        1,
        ...inputs.map((name) => text(1, name)),
        ...outputs.map((name) => text(2, name)),
        text(3, outputs[0]),
        text(4, operator),
        ...Object.entries(attributes).map(([name, value]) =>
          nested(5, text(1, name), ...attributeValue(value)),
        ),
        text(7, learningOperators.includes(operator) ? machineLearning : ''),
      ),
    );
    return outputs[0];
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

function attributeValue(value: Attribute): readonly Message[] {
  if (typeof value === 'number') return [integer(3, value), integer(20, types.integer)];
  if (typeof value === 'string') return [text(4, value), integer(20, types.text)];
  if (value instanceof Float32Array) return [floats(7, value), integer(20, types.floats)];
  if (typeof value[0] === 'string') {
    return [...value.map((item) => text(9, String(item))), integer(20, types.texts)];
  }
  return [integers(8, value as readonly number[]), integer(20, types.integers)];
}

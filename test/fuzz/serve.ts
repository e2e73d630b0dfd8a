import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { HostNames } from '../../src/apps/host-header.ts';
import { Metrics } from '../../src/apps/serve/metrics.ts';
import { Scorer } from '../../src/apps/serve/scorer.ts';
import { ScoringServer } from '../../src/apps/serve/server.ts';
import { type Random, stream } from '../../src/math/random.ts';
import { converse, type Ending, type Heard, nextResponse, withoutInterim } from './conversation.ts';
import { chance, pick } from './draw.ts';
import { without } from './minimize.ts';
import { malformed, odd, page, scoring } from './serve-heads.ts';
import { type ServedModel, trainModels } from './serve-models.ts';
import { type Exchange, limits, Oracle } from './serve-requests.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

/** A connection that takes longer hangs. */
const patience = 10_000;
/** Inputs between two looks at the memory, and bytes by which that may have grown since the first. */
const memoryEvery = 1000;
const mostGrowth = 48 * 2 ** 20;

interface Served {
  readonly oracle: Oracle;
  readonly server: ScoringServer;
  readonly metrics: Metrics;
  readonly port: number;
  readonly failures: unknown[];
}

/** What one connection sends. */
interface Conversation {
  readonly exchanges: readonly Exchange[];
  readonly ending: Ending;
  /** Seeds the lengths of the pieces it is sent in. */
  readonly cuts: number;
}

async function start(served: ServedModel): Promise<Served> {
  const { model, name } = served;
  const metrics = new Metrics();
  const failures: unknown[] = [];
  const current = { model, scorer: new Scorer(model), version: 'v1', loadedAt: new Date(0) };
  const server = new ScoringServer({
    name,
    limits,
    hosts: new HostNames('127.0.0.1'),
    metrics,
    current: () => current,
    onFailure: (error) => failures.push(error),
  });
  const { port } = await server.listen(0, '127.0.0.1');
  return { oracle: new Oracle(served), server, metrics, port, failures };
}

function conversationOf(random: Random, oracle: Oracle): Conversation {
  const end = random.uniform();
  const special = end < 0.12 ? odd : end < 0.24 ? malformed : undefined;
  const count = special ? random.below(3) : 1 + random.below(4);
  const exchanges = Array.from({ length: count }, (_, k) => {
    const last = !special && k === count - 1;
    return chance(random, 0.05) ? page(random, last) : scoring(random, oracle, last);
  });
  if (special) exchanges.push(special(random, oracle));
  // Half a request that is waited for takes until the time is up.
  const waits = special !== malformed || chance(random, 0.01);
  const ending: Ending = chance(random, 0.03) ? 'destroy' : waits ? 'wait' : 'end';
  return { exchanges, ending, cuts: random.nextUint32() };
}

function piecesOf({ exchanges, cuts }: Conversation): Buffer[] {
  const random = stream(cuts, 0);
  const all = Buffer.concat(exchanges.map(({ bytes }) => bytes));
  const most = pick(random, [all.length, all.length, 2000, 200, 20]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < all.length && pieces.length < 200; ) {
    const length = pieces.length === 199 ? all.length : 1 + random.below(Math.max(1, most));
    pieces.push(all.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

/** Compares what came back with what is due. */
function faultOfAnswers(
  { exchanges, ending }: Conversation,
  { bytes, closed }: Heard,
  counts: Counts,
): string | undefined {
  if (ending === 'destroy') return undefined;
  let rest = withoutInterim(bytes);
  for (const [index, { faultOf, method, regular }] of exchanges.entries()) {
    if (rest.length === 0) {
      // What cannot be parsed ends the connection, once what was before it is answered.
      if (!faultOf || (closed && index > 0 && !regular)) break;
      return closed ? 'no answer' : `no answer within ${patience / 1000} s`;
    }
    const next = nextResponse(rest, method);
    if (typeof next === 'string') return next;
    const { response } = next;
    counts.add(`with ${response.status}`);
    rest = withoutInterim(next.rest);
    const fault = faultOf ? faultOf(response) : response.status === 500 ? response.body : undefined;
    if (fault !== undefined) return fault;
  }
  // Behind bytes that are no request there may be another answer.
  if (exchanges.every(({ regular }) => regular) && rest.length > 0) {
    return `more than was asked for: ${rest.toString().slice(0, 200)}`;
  }
  // What looks like no request may be one, after which the connection stays.
  const stays = bytes.length > 0 && exchanges.some(({ faultOf }) => !faultOf);
  return closed || stays ? undefined : 'the connection was not closed';
}

function shown({ exchanges, ending }: Conversation): string {
  const texts = exchanges.map(({ bytes }) => JSON.stringify(bytes.toString('latin1')));
  const all = texts.join(' then ');
  return `${all.length > 1500 ? `${all.slice(0, 1500)}…` : all} (${ending})`;
}

class ServeAttack implements Attack {
  readonly counts = new Counts();
  readonly #served: readonly Served[];
  readonly #uncaught: unknown[] = [];
  readonly #note = (error: unknown) => void this.#uncaught.push(error);
  #inputs = 0;
  #memory: number | undefined;

  constructor(served: readonly Served[]) {
    this.#served = served;
    process.on('uncaughtException', this.#note).on('unhandledRejection', this.#note);
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const served = pick(random, this.#served);
    const conversation = conversationOf(random, served.oracle);
    const control = served.oracle.served.row(random);
    const fault = await this.#faultOf(served, conversation, control);
    this.#inputs++;
    if (fault === undefined) return this.#memoryFault();
    // The last one asks the server to close the connection.
    const last = conversation.exchanges.slice(-1);
    const fails = async (before: readonly Exchange[]) => {
      const shorter = { ...conversation, exchanges: [...before, ...last] };
      return (await this.#faultOf(served, shorter, control)) !== undefined;
    };
    const before = await without(conversation.exchanges.slice(0, -1), fails);
    const least = { ...conversation, exchanges: [...before, ...last] };
    const again = await this.#faultOf(served, least, control);
    const { name } = served.oracle.served;
    return { what: `model ${name}: ${again ?? fault}: ${shown(least)}` };
  }

  async #faultOf(
    served: Served,
    conversation: Conversation,
    control: unknown,
  ): Promise<string | undefined> {
    const { port } = served;
    const { exchanges, ending } = conversation;
    for (const _ of exchanges) this.counts.add('requests');
    const heard = await converse(port, piecesOf(conversation), ending, patience);
    const fault = faultOfAnswers(conversation, heard, this.counts);
    return fault ?? (await this.#controlFault(served, control)) ?? this.#ownFault(served);
  }

  /** Whether the server still answers, and rightly. */
  async #controlFault({ port, oracle }: Served, row: unknown): Promise<string | undefined> {
    const body = Buffer.from(JSON.stringify(row));
    const head = 'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const framing = `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    const sent = [Buffer.concat([Buffer.from(head + framing), body])];
    const { bytes } = await converse(port, sent, 'wait', patience);
    const next = nextResponse(bytes, 'POST');
    const fault = typeof next === 'string' ? next : oracle.faultOfJson(body, next.response);
    return fault && `then, to ${body.toString()}: ${fault}`;
  }

  #ownFault({ failures, metrics }: Served): string | undefined {
    const errors = [...failures.splice(0), ...this.#uncaught.splice(0)];
    if (errors.length > 0)
      return errors.map((error) => (error as Error)?.stack ?? error).join('\n');
    return metrics.bodyBytes > 0 ? `${metrics.bodyBytes} bytes of bodies are held` : undefined;
  }

  #memoryFault(): Failure | undefined {
    if (this.#inputs % memoryEvery !== 0) return undefined;
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    const { heapUsed, external } = process.memoryUsage();
    this.#memory ??= heapUsed + external;
    const growth = heapUsed + external - this.#memory;
    if (growth < mostGrowth) return undefined;
    return { what: `memory has grown by ${growth} bytes in ${this.#inputs} inputs` };
  }

  async close(): Promise<void> {
    await Promise.all(this.#served.map(({ server }) => server.stop()));
    process.off('uncaughtException', this.#note).off('unhandledRejection', this.#note);
  }
}

export const serveTarget: Target = {
  summary: 'sends requests of all kinds to scoring servers',
  quick: 1000,
  async open(folder) {
    const models = await trainModels(folder);
    return new ServeAttack(await Promise.all(models.map(start)));
  },
};

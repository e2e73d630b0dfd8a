import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/math/random.ts';
import { type Finished, type Running, startDso } from '../support/command-line.ts';
import { chance, pick } from './draw.ts';
import { others, type Scene, trainings, writeData } from './kill-scenes.ts';
import { type Attack, Counts, type Failure, type Target } from './target.ts';

/** Seconds after which a run hangs. */
const hanging = 120;
/** Kills of one input, at most. */
const mostKills = 5;

/** A scene, and what a run leaves that nothing happened to. */
interface Prepared extends Scene {
  readonly milliseconds: number;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly expected: unknown;
}

const environment = { DSO_NO_RECORD: '1', NO_COLOR: '1' };

function start(folder: string, args: readonly string[]): Running {
  return startDso(args, { folder, environment });
}

/** The end of a run; undefined if it does not come. */
async function ended({ process: child, finished }: Running): Promise<Finished | undefined> {
  const timer = setTimeout(() => child.kill('SIGKILL'), 1000 * hanging);
  const late = sleep(1000 * hanging, undefined, { ref: false });
  const result = await Promise.race([finished, late]);
  clearTimeout(timer);
  return result ?? undefined;
}

/** Files by their path in the folder, without those that are hidden. */
function filesOf(folder: string, outputs: readonly string[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const output of outputs) {
    const path = join(folder, output);
    if (!existsSync(path)) continue;
    const isFolder = statSync(path).isDirectory();
    const inside = isFolder ? readdirSync(path).map((name) => join(output, name)) : [output];
    for (const name of inside) {
      if (!/(^|\/)\./.test(name)) files.set(name, readFileSync(join(folder, name)));
    }
  }
  return files;
}

class KillAttack implements Attack {
  readonly counts = new Counts();
  readonly #folder: string;
  readonly #prepared = new Map<Scene, Prepared>();
  #number = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async attempt(random: Random): Promise<Failure | undefined> {
    const drawn = pick(random, chance(random, 0.6) ? trainings : others);
    const scene = this.#prepared.get(drawn) ?? (await prepare(drawn, this.#folder));
    this.#prepared.set(drawn, scene);
    const folder = join(this.#folder, `attempt-${this.#number++}`);
    enter(this.#folder, folder);
    const kills: string[] = [];
    const fault = await this.#faultOf(scene, folder, random, kills);
    this.counts.add(`of ${scene.name}`);
    if (fault === undefined) {
      rmSync(folder, { recursive: true });
      return undefined;
    }
    const what = `${scene.args.join(' ')}, killed ${kills.join(', ')}: ${fault} (in ${folder})`;
    return { what };
  }

  async #faultOf(
    scene: Prepared,
    folder: string,
    random: Random,
    kills: string[],
  ): Promise<string | undefined> {
    const count = 1 + random.below(mostKills);
    for (let kill = 0; kill < count; kill++) {
      const fault = await this.#kill(scene, folder, random, kills);
      if (fault !== undefined) return fault;
    }
    const last = await ended(start(folder, scene.args));
    return faultOfEnd(scene, last) ?? faultOfFiles(scene, folder);
  }

  /** Kills one run, or two that have been started together; what is wrong with what they leave. */
  async #kill(
    scene: Prepared,
    folder: string,
    random: Random,
    kills: string[],
  ): Promise<string | undefined> {
    const { milliseconds } = scene;
    // Most at any time, some while files are written at the end, some before anything has begun.
    const [from, to] = pick(random, [
      [0, 1],
      [0.3, 1],
      [0.3, 1],
      [0.8, 1.1],
      [0, 0.2],
    ]);
    const after = milliseconds * (from + (to - from) * random.uniform());
    const hasTwin = scene.args.includes('--checkpoint') && chance(random, 0.1);
    const running = [start(folder, scene.args)];
    if (hasTwin) running.push(start(folder, scene.args));
    await sleep(after);
    for (const { process: child } of running) child.kill('SIGKILL');
    for (const one of running) {
      const result = await ended(one);
      const isKilled = result?.code === null;
      this.counts.add(isKilled ? 'kills' : 'ended before');
      kills.push(`${isKilled ? '' : 'too late '}after ${after.toFixed(0)} ms`);
      const isRefused =
        hasTwin && result?.code === 2 && /saves .* of a run there/.test(result.stderr);
      const fault = isKilled || isRefused ? undefined : faultOfEnd(scene, result);
      if (fault !== undefined) return fault;
    }
    return faultOfParts(scene, folder);
  }
}

function faultOfEnd({ code }: Prepared, result: Finished | undefined): string | undefined {
  if (!result) return `has not ended after ${hanging} s`;
  return result.code === code ? undefined : `exit code ${result.code}: ${result.stderr}`;
}

/** An output is there as a whole or not at all. */
function faultOfParts({ outputs, files }: Prepared, folder: string): string | undefined {
  for (const [name, bytes] of filesOf(folder, outputs)) {
    if (!files.get(name)?.equals(bytes)) return `${name} is not what it is in the end`;
  }
  return undefined;
}

/** All is as if nothing had happened, but for hidden files of killed processes. */
function faultOfFiles(scene: Prepared, folder: string): string | undefined {
  const { outputs, files, found, expected } = scene;
  const parts = faultOfParts(scene, folder);
  if (parts !== undefined) return parts;
  const missing = [...files.keys()].find((name) => !filesOf(folder, outputs).has(name));
  if (missing !== undefined) return `${missing} is missing`;
  if (found && JSON.stringify(found(folder)) !== JSON.stringify(expected)) {
    return `other results than those of a run left alone: ${JSON.stringify(found(folder))}`;
  }
  const saved = join(folder, 'saved');
  if (!existsSync(saved)) return undefined;
  const names = readdirSync(saved, { recursive: true }).map(String);
  const left = names.find((name) => /\.(lock|partial)$/.test(name));
  return left === undefined ? undefined : `${left} is left in the folder of checkpoints`;
}

const inputs = ['train.svm', 'classes.svm', 'large.svm', 'train.model', 'large.dsob'];

/** A folder of its own, in which the data are. */
function enter(data: string, folder: string): void {
  mkdirSync(folder);
  for (const name of inputs) symlinkSync(join(data, name), join(folder, name));
}

async function prepare(scene: Scene, data: string): Promise<Prepared> {
  const folder = join(data, 'alone');
  enter(data, folder);
  const started = performance.now();
  const { code, stderr } = await start(folder, scene.args).finished;
  const milliseconds = performance.now() - started;
  if (code !== scene.code) throw new Error(`${scene.args.join(' ')}: ${code} ${stderr}`);
  const files = filesOf(folder, scene.outputs);
  const expected = scene.found?.(folder);
  rmSync(folder, { recursive: true });
  return { ...scene, milliseconds, files, expected };
}

export const killTarget: Target = {
  summary: 'kills commands at random moments and starts them again',
  quick: 5,
  async open(folder) {
    for (const args of writeData(folder)) {
      const { code, stderr } = await start(folder, args).finished;
      if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    }
    return new KillAttack(folder);
  },
};

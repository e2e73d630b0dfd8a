import { flushSync, untrack } from 'svelte';
import {
  type BlockHolders,
  type RunsAnswer,
  runningThreads,
  type StreamEvents,
} from '../../src/apps/dashboard/api.ts';
import type { RunDetail, RunLine, RunSummary } from '../../src/reporting/records/record.ts';
import { formatView, parseView, pointsFor, type View } from './charts/view.ts';
import { progressOf } from './runs/progress.ts';
import { firstChoice, vectorsOf, withLines, withRun } from './runs/summary.ts';
import { Track } from './runs/track.ts';
import { Rate, Throttle, VisibilityWatch } from './shared/refresh.ts';

/** broken: the stream is being opened again; ended: the server is gone. */
export type Connection = 'connecting' | 'live' | 'broken' | 'ended';

export type Stage = Omit<StreamEvents['stage'], 'id'>;

/** Milliseconds without a step after which a movement is over. */
const settleDelay = 200;
/** Lines that are shown at once. */
const urgentEvents: ReadonlySet<RunLine['event']> = new Set(['begin', 'result', 'failure']);
/** Events by which a person is known to be at the page. */
const activityEvents = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'focus'] as const;
/** Failures in a row after which the server is taken to be gone. */
const mostFailures = 3;

/** State of the page. Curves are plain arrays that grow in place; `changes` counts their updates. */
export class Store {
  view = $state.raw<View>(parseView(location.hash));
  runs = $state.raw<readonly RunSummary[]>([]);
  folder = $state('');
  path = $state('');
  version = $state('');
  own = $state<string | undefined>();
  loaded = $state(false);
  problem = $state('');
  connection = $state<Connection>('connecting');
  changes = $state(0);
  /** While the view is being panned or zoomed, charts may be coarse. */
  moving = $state(false);
  stages = $state.raw<ReadonlyMap<string, Stage>>(new Map());
  look = $state.raw<(BlockHolders & { readonly id: string }) | undefined>();
  /** Runs with a request to stop. */
  stopping = $state.raw<ReadonlySet<string>>(new Set());

  readonly #tracks = new Map<string, Track>();
  /** Lines that come while a run is being loaded, by its ID. */
  readonly #loading = new Map<string, RunLine[]>();
  readonly #loads = new Throttle(4);
  /** Not tried again before the view changes. */
  readonly #failed = new Set<string>();
  #pendingRuns: readonly RunSummary[] | undefined;
  /** Runs that arrive while the list is being loaded. */
  #received: RunSummary[] | undefined;
  #pendingChanges = false;
  #pendingLook: (BlockHolders & { readonly id: string }) | undefined;
  readonly #rate = new Rate(navigator.hardwareConcurrency);
  readonly #activity = new VisibilityWatch(performance.now());
  #lastFlush = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #movement: ReturnType<typeof setTimeout> | undefined;

  /** The view, without the steps of a movement. */
  readonly settled = $derived.by(() => (this.moving ? untrack(() => this.view) : this.view));
  /** The same list while other parts of the view change. */
  readonly #slots = $derived(this.view.runs);
  readonly summaries = $derived(new Map(this.runs.map((run) => [run.id, run])));
  /** The chosen runs that exist, with their slots. */
  readonly shown = $derived(
    this.#slots.flatMap((id, slot) => {
      const summary = this.summaries.get(id);
      return summary ? [{ id, slot, summary }] : [];
    }),
  );
  readonly focused = $derived(this.summaries.get(this.view.focus ?? '') ?? this.shown[0]?.summary);
  /** How far the run in focus is. */
  readonly progress = $derived.by(() => {
    void this.changes;
    return this.focused ? progressOf(this.focused, this.track(this.focused.id)) : { fraction: 0 };
  });

  track(id: string): Track | undefined {
    return this.#tracks.get(id);
  }

  /** Opens the stream before it loads the list, so that no change in between is missed. */
  open(): void {
    addEventListener('popstate', () => this.#restore());
    addEventListener('hashchange', () => this.#restore());
    document.addEventListener('visibilitychange', () => this.#schedule());
    for (const event of activityEvents) {
      addEventListener(event, () => this.#noteActivity(), { capture: true, passive: true });
    }
    this.#listen();
  }

  /** Shows something else. Small steps of one movement are one step of the back button. */
  show(change: Partial<View>, step: 'new' | 'same' = 'new'): void {
    if (step === 'new') this.#settle();
    else clearTimeout(this.#movement);
    this.view = { ...this.view, ...change };
    if (step === 'new') history.pushState(null, '', this.#address());
    else this.#movement = setTimeout(() => this.#settle(), settleDelay);
    this.moving = step === 'same';
    this.#failed.clear();
    this.#loadShown();
  }

  async stop(id: string): Promise<void> {
    this.stopping = new Set(this.stopping).add(id);
    try {
      const answer = await fetch(`api/runs/${id}/stop`, { method: 'POST' });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    } catch (error) {
      this.stopping = new Set([...this.stopping].filter((other) => other !== id));
      this.problem = `could not stop the run: ${messageOf(error)}`;
    }
  }

  #address(): string {
    return formatView(this.view) || location.pathname;
  }

  /** Ends a movement: browsers limit how often a page may change its address. */
  #settle(): void {
    if (this.#movement === undefined) return;
    clearTimeout(this.#movement);
    this.#movement = undefined;
    history.replaceState(null, '', this.#address());
    this.moving = false;
  }

  #restore(): void {
    this.view = parseView(location.hash);
    this.#chooseFirst();
    this.#loadShown();
  }

  async #loadList(): Promise<void> {
    this.#received = [];
    try {
      const answer = (await fetchJson('api/runs')) as RunsAnswer;
      this.#pendingRuns = undefined;
      this.runs = (this.#received ?? []).reduce(withRun, answer.runs);
      this.folder = answer.folder;
      this.path = answer.path;
      this.version = answer.version;
      this.own = answer.own;
      this.problem = '';
    } catch (error) {
      this.problem = `could not load the list of runs: ${messageOf(error)}`;
    }
    this.#received = undefined;
    this.loaded = true;
    this.#chooseFirst();
    this.#loadShown();
  }

  #chooseFirst(): void {
    // Running runs arrive before the list, which may have those of the address.
    if (!this.loaded || this.shown.length > 0) return;
    const first = firstChoice(this.runs, this.own);
    if (first !== undefined) this.view = { ...this.view, runs: [first], focus: first };
  }

  #loadShown(): void {
    const points = pointsFor(this.shown.length);
    for (const { id, summary } of this.shown) {
      const vector = vectorOf(this.view, summary);
      const track = this.#tracks.get(id);
      if (track?.vector === vector && !track.isCoarserThan(points)) continue;
      if (!this.#loading.has(id) && !this.#failed.has(id)) this.#load(id, points);
    }
  }

  #load(id: string, points: number): void {
    this.#loading.set(id, []);
    this.#loads.add(async () => {
      const summary = this.summaries.get(id);
      const vector = summary ? vectorOf(this.view, summary) : 0;
      try {
        const address = `api/runs/${id}?points=${points}&vector=${vector}`;
        const track = new Track((await fetchJson(address)) as RunDetail, points);
        track.append(this.#loading.get(id)!);
        this.#tracks.set(id, track);
        this.#pendingChanges = true;
        requestAnimationFrame(() => this.#flush());
      } catch (error) {
        this.#failed.add(id);
        this.problem = `could not load run ${id}: ${messageOf(error)}`;
      }
      this.#loading.delete(id);
      // The view may need another class or more points by now.
      this.#loadShown();
    });
  }

  #listen(): void {
    const source = new EventSource('api/events');
    const on = <Name extends keyof StreamEvents>(
      name: Name,
      act: (data: StreamEvents[Name]) => void,
    ) => source.addEventListener(name, (event) => act(JSON.parse(event.data)));
    source.addEventListener('open', () => this.#opened());
    source.addEventListener('error', () => {
      this.#failures++;
      // The list can be loaded even if the stream fails.
      if (this.connection === 'connecting') void this.#loadList();
      const gone = source.readyState === EventSource.CLOSED || this.#failures >= mostFailures;
      if (this.connection !== 'ended') this.connection = gone ? 'ended' : 'broken';
    });
    on('run', (run) => this.#receiveRun(run));
    on('lines', ({ id, lines }) => this.#receiveLines(id, lines));
    on('stage', ({ id, ...stage }) => {
      this.stages = new Map(this.stages).set(id, stage);
    });
    on('look', (look) => {
      this.#pendingLook = look;
      this.#schedule();
    });
    on('gone', ({ id }) => {
      this.#pendingRuns = (this.#pendingRuns ?? this.runs).filter((run) => run.id !== id);
      this.#schedule();
    });
    on('bye', () => {
      source.close();
      this.connection = 'ended';
    });
  }

  #opened(): void {
    const isFirst = this.connection === 'connecting';
    this.#failures = 0;
    this.connection = 'live';
    void (isFirst ? this.#loadList() : this.#catchUp());
  }

  /** After an interruption, running runs may have lines that were missed. */
  async #catchUp(): Promise<void> {
    const running = this.runs.filter(({ status }) => status === 'running');
    await this.#loadList();
    const shown = new Set(this.shown.map(({ id }) => id));
    for (const { id } of running) {
      if (!shown.has(id)) this.#tracks.delete(id);
      else if (!this.#loading.has(id)) this.#load(id, pointsFor(shown.size));
    }
  }

  #receiveRun(run: RunSummary): void {
    this.#received?.push(run);
    const before = this.#pendingRuns ?? this.runs;
    this.#pendingRuns = withRun(before, run);
    this.#loadAgainAfter(run);
    const known = before.find(({ id }) => id === run.id);
    this.#schedule(known?.status === run.status ? undefined : 0);
  }

  /** A slow page gets the summary of a run instead of its lines. */
  #loadAgainAfter(run: RunSummary): void {
    const { id, latest, result } = run;
    const track = this.#tracks.get(id);
    if (!track || !latest || this.#loading.has(id)) return;
    const isOwnVector = (latest.vector ?? 0) === track.vector;
    const isBehind = isOwnVector && latest.epoch > (track.series.epoch.at(-1) ?? 0);
    // The server leaves out some of very many lines: at the end all classes are counted again.
    const isUncounted = result !== undefined && track.reached.size < vectorsOf(run);
    if (isBehind || (isUncounted && vectorsOf(run) > 1)) {
      this.#load(id, pointsFor(this.shown.length));
    }
  }

  #receiveLines(id: string, lines: readonly RunLine[]): void {
    const runs = this.#pendingRuns ?? this.runs;
    const run = runs.find((other) => other.id === id);
    if (run) this.#pendingRuns = withRun(runs, withLines(run, lines));
    this.#loading.get(id)?.push(...lines);
    const changed = this.#tracks.get(id)?.append(lines) ?? false;
    if (changed && this.view.runs.includes(id)) this.#pendingChanges = true;
    this.#schedule(lines.some(({ event }) => urgentEvents.has(event)) ? 0 : undefined);
  }

  /** A person is at the page: pending changes are shown now. */
  #noteActivity(): void {
    if (!this.#activity.touch(performance.now()) || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#schedule();
  }

  /** Whether every core trains and no person is at the page. */
  #isCalm(): boolean {
    if (this.#activity.isThere(performance.now())) return false;
    const threads = this.runs.reduce((sum, run) => sum + runningThreads(run), 0);
    return threads >= navigator.hardwareConcurrency;
  }

  /** Shows pending changes soon, or now (0); not while the page is hidden. */
  #schedule(wait = this.#rate.interval(this.#isCalm())): void {
    if (document.hidden || (this.#timer !== undefined && wait > 0)) return;
    clearTimeout(this.#timer);
    const due = Math.max(0, this.#lastFlush + wait - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Requested first, so that its time includes the curves, which wait for a frame as well.
      const frame = nextFrameTime();
      this.#flush();
      flushSync();
      const cost = performance.now() - this.#lastFlush;
      void frame.then((time) => this.#rate.note(cost + time));
    }, due);
  }

  #flush(): void {
    this.#lastFlush = performance.now();
    if (this.#pendingRuns) {
      this.runs = this.#pendingRuns;
      this.#pendingRuns = undefined;
      this.#chooseFirst();
      this.#loadShown();
    }
    if (this.#pendingLook) {
      this.look = this.#pendingLook;
      this.#pendingLook = undefined;
    }
    if (this.#pendingChanges) {
      this.#pendingChanges = false;
      this.changes++;
    }
  }
}

/** The vector that a run is shown by: the chosen one, or the last where there are fewer. */
export function vectorOf({ vector }: View, { begin }: RunSummary): number {
  return Math.min(vector, Math.max(1, begin?.vectors ?? 1) - 1);
}

async function fetchJson(address: string): Promise<unknown> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.json();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Milliseconds that the page's own thread spends on the next frame, without the wait for it: a
 * message that is sent in a frame arrives when the frame has been drawn.
 */
function nextFrameTime(): Promise<number> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      const start = performance.now();
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener('message', () => {
        resolve(performance.now() - start);
        port1.close();
      });
      port1.start();
      port2.postMessage(undefined);
    });
  });
}

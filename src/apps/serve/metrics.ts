import packageDescription from '../../../package.json' with { type: 'json' };

/** What the metrics tell about the model at the time they are asked for. */
export interface ModelFigures {
  readonly loadedAt: Date;
  readonly gap: number;
}

/** Upper ends of the buckets of the histogram, in seconds. */
const bounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Told once: a start that moved a little with every look would look like a restart. */
const processStart = Date.now() / 1000 - process.uptime();

/** Counts of one path. */
class PathCounts {
  readonly codes = new Map<number, number>();
  /** The last one is for what is above all bounds. */
  readonly buckets = new Float64Array(bounds.length + 1);
  seconds = 0;

  add(code: number, seconds: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
    let bucket = 0;
    while (bucket < bounds.length && seconds > bounds[bucket]) bucket++;
    this.buckets[bucket]++;
    this.seconds += seconds;
  }
}

/** What a server counts, as Prometheus reads it. */
export class Metrics {
  rows = 0;
  failedRows = 0;
  underWay = 0;
  connections = 0;
  loads = 0;
  failedLoads = 0;
  readonly #paths = new Map<string, PathCounts>();

  /** Paths are few: those that are not served count as one. */
  count(path: string, code: number, seconds: number): void {
    let counts = this.#paths.get(path);
    if (counts === undefined) {
      counts = new PathCounts();
      this.#paths.set(path, counts);
    }
    counts.add(code, seconds);
  }

  text(model: ModelFigures): string {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    return [
      ...this.#requestLines(),
      ...simple('dso_requests_under_way', 'gauge', 'Requests being answered.', this.underWay),
      ...simple('dso_connections', 'gauge', 'Open connections.', this.connections),
      ...simple('dso_rows_total', 'counter', 'Rows that were scored.', this.rows),
      ...simple('dso_row_errors_total', 'counter', 'Lines answered by an error.', this.failedRows),
      ...heading('dso_model_loads_total', 'counter', 'Model files read, by result.'),
      `dso_model_loads_total{result="ok"} ${this.loads}`,
      `dso_model_loads_total{result="failed"} ${this.failedLoads}`,
      ...simple(
        'dso_model_loaded_timestamp_seconds',
        'gauge',
        'When the model was read.',
        model.loadedAt.getTime() / 1000,
      ),
      ...simple('dso_model_relative_gap', 'gauge', 'Certified gap of the model.', model.gap),
      ...heading('dso_build_info', 'gauge', 'Version of dso.'),
      `dso_build_info{version="${packageDescription.version}"} 1`,
      ...simple('process_resident_memory_bytes', 'gauge', 'Resident memory.', rss),
      ...simple('nodejs_heap_size_used_bytes', 'gauge', 'Used memory of the heap.', heapUsed),
      ...simple('process_cpu_seconds_total', 'counter', 'Processor time.', (user + system) / 1e6),
      ...simple('process_start_time_seconds', 'gauge', 'When the process began.', processStart),
      '',
    ].join('\n');
  }

  #requestLines(): string[] {
    const paths = [...this.#paths].sort(([left], [right]) => (left < right ? -1 : 1));
    const duration = 'dso_request_duration_seconds';
    return [
      ...heading('dso_requests_total', 'counter', 'Requests by path and status.'),
      ...paths.flatMap(([path, { codes }]) =>
        [...codes]
          .sort(([left], [right]) => left - right)
          .map(([code, count]) => `dso_requests_total{path="${path}",code="${code}"} ${count}`),
      ),
      ...heading(duration, 'histogram', 'From the head of a request to the end of its answer.'),
      ...paths.flatMap(([path, counts]) => histogram(duration, path, counts)),
    ];
  }
}

function histogram(name: string, path: string, { buckets, seconds }: PathCounts): string[] {
  let total = 0;
  const lines = [...bounds, Infinity].map((bound, bucket) => {
    total += buckets[bucket];
    return `${name}_bucket{path="${path}",le="${numberText(bound)}"} ${total}`;
  });
  return [
    ...lines,
    `${name}_sum{path="${path}"} ${numberText(seconds)}`,
    `${name}_count{path="${path}"} ${total}`,
  ];
}

type Kind = 'counter' | 'gauge' | 'histogram';

function simple(name: string, kind: Kind, help: string, value: number): string[] {
  return [...heading(name, kind, help), `${name} ${numberText(value)}`];
}

function heading(name: string, kind: Kind, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

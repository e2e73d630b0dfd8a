import packageDescription from '../../../package.json' with { type: 'json' };

/** Upper ends of the buckets of the histogram, in seconds. */
const bounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

/** Computed once: a start that moves a little with every request would look like a restart. */
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
  bodyBytes = 0;
  loads = 0;
  failedLoads = 0;
  readonly #paths = new Map<string, PathCounts>();

  /** Paths are few: those that are not served count as one. */
  count(path: string, code: number, seconds: number): void {
    const counts = this.#paths.get(path) ?? new PathCounts();
    this.#paths.set(path, counts);
    counts.add(code, seconds);
  }

  text(model: { readonly loadedAt: Date; readonly gap: number }): string {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const loads = { '{result="ok"}': this.loads, '{result="failed"}': this.failedLoads };
    const loadedAt = model.loadedAt.getTime() / 1000;
    const build = { [`{version="${packageDescription.version}"}`]: 1 };
    return [
      ...this.#requestLines(),
      ...gauge('dso_requests_under_way', 'Requests being answered.', this.underWay),
      ...gauge('dso_connections', 'Open connections.', this.connections),
      ...gauge('dso_body_bytes', 'Bytes of large bodies in memory.', this.bodyBytes),
      ...counter('dso_rows_total', 'Rows that were scored.', this.rows),
      ...counter('dso_row_errors_total', 'Lines answered by an error.', this.failedRows),
      ...counter('dso_model_loads_total', 'Model files read, by result.', loads),
      ...gauge('dso_model_loaded_timestamp_seconds', 'When the model was read.', loadedAt),
      ...gauge('dso_model_relative_gap', 'Certified gap of the model.', model.gap),
      ...gauge('dso_build_info', 'Version of dso.', build),
      ...gauge('process_resident_memory_bytes', 'Resident memory.', rss),
      ...gauge('nodejs_heap_size_used_bytes', 'Used memory of the heap.', heapUsed),
      ...counter('process_cpu_seconds_total', 'Processor time.', (user + system) / 1e6),
      ...gauge('process_start_time_seconds', 'When the process began.', processStart),
      '',
    ].join('\n');
  }

  #requestLines(): string[] {
    const paths = [...this.#paths].sort(([left], [right]) => (left < right ? -1 : 1));
    const requests = Object.fromEntries(
      paths.flatMap(([path, { codes }]) =>
        [...codes]
          .sort(([left], [right]) => left - right)
          .map(([code, count]) => [`{path="${path}",code="${code}"}`, count]),
      ),
    );
    const duration = 'dso_request_duration_seconds';
    return [
      ...counter('dso_requests_total', 'Requests by path and status.', requests),
      ...heading(duration, 'histogram', 'From the head of a request to the end of its answer.'),
      ...paths.flatMap(([path, counts]) => histogram(duration, path, counts)),
    ];
  }
}

function histogram(name: string, path: string, { buckets, seconds }: PathCounts): string[] {
  let total = 0;
  const bucketLines = [...bounds, Infinity].map((bound, bucket) => {
    total += buckets[bucket];
    return `${name}_bucket{path="${path}",le="${numberText(bound)}"} ${total}`;
  });
  return [
    ...bucketLines,
    `${name}_sum{path="${path}"} ${numberText(seconds)}`,
    `${name}_count{path="${path}"} ${total}`,
  ];
}

/** One number, or numbers by their labels. */
type Values = number | Readonly<Record<string, number>>;

const gauge = linesOf('gauge');
const counter = linesOf('counter');

function linesOf(kind: string) {
  return (name: string, help: string, values: Values): string[] => {
    const labelled = Object.entries(typeof values === 'number' ? { '': values } : values);
    const lines = labelled.map(([labels, value]) => `${name}${labels} ${numberText(value)}`);
    return [...heading(name, kind, help), ...lines];
  };
}

function heading(name: string, kind: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`];
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}

import { expect, test } from 'vitest';
import { Metrics } from '../../../../src/apps/serve/metrics.ts';

const model = { loadedAt: new Date(1_700_000_000_000), gap: Infinity };

/** Every line is a comment or `name{labels} value`, and every metric is described before it. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>();
  const described = new Set<string>();
  expect(text.endsWith('\n')).toBe(true);
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) \S/.exec(line);
    if (comment) {
      described.add(comment[2]);
      continue;
    }
    const match = /^(([a-z_]+)(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})?) (\S+)$/.exec(line);
    expect(match, line).not.toBeNull();
    const [, key, name, value] = match!;
    const base = name.replace(/_(bucket|sum|count)$/, '');
    expect(described.has(name) || described.has(base), line).toBe(true);
    values.set(key, value === '+Inf' ? Infinity : Number(value));
  }
  return values;
}

test('requests by path and status, and how long they took', () => {
  const metrics = new Metrics();
  metrics.count('/predict', 200, 0.0001);
  metrics.count('/predict', 200, 0.0003);
  metrics.count('/predict', 400, 99);
  metrics.count('other', 404, 0.2);
  const values = parse(metrics.text(model));
  const bucket = (le: string) =>
    values.get(`dso_request_duration_seconds_bucket{path="/predict",le="${le}"}`);
  expect(values.get('dso_requests_total{path="/predict",code="200"}')).toBe(2);
  expect(values.get('dso_requests_total{path="/predict",code="400"}')).toBe(1);
  expect(values.get('dso_requests_total{path="other",code="404"}')).toBe(1);
  // A bound belongs to its bucket, and buckets hold all below them.
  expect(['0.0001', '0.00025', '0.0005', '10', '+Inf'].map(bucket)).toEqual([1, 1, 2, 2, 3]);
  expect(values.get('dso_request_duration_seconds_count{path="/predict"}')).toBe(3);
  expect(values.get('dso_request_duration_seconds_sum{path="/predict"}')).toBeCloseTo(99.0004, 9);
});

test('the model and the process', () => {
  const metrics = new Metrics();
  Object.assign(metrics, { rows: 7, failedRows: 2, loads: 3, failedLoads: 1 });
  const values = parse(metrics.text(model));
  expect(values.get('dso_rows_total')).toBe(7);
  expect(values.get('dso_row_errors_total')).toBe(2);
  expect(values.get('dso_model_loads_total{result="ok"}')).toBe(3);
  expect(values.get('dso_model_loads_total{result="failed"}')).toBe(1);
  expect(values.get('dso_model_loaded_timestamp_seconds')).toBe(1_700_000_000);
  expect(values.get('dso_model_relative_gap')).toBe(Infinity);
  expect(values.get('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  expect(values.get('process_cpu_seconds_total')).toBeGreaterThan(0);
});

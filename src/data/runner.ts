/**
 * Runs named tasks somewhere: in worker threads, or right here. The data layer knows no threads;
 * whoever owns some registers `parseTasks` with them and passes a runner in.
 */
export interface TaskRunner {
  readonly threads: number;
  run<Result>(task: string, payload: unknown, transfer?: ArrayBuffer[]): Promise<Result>;
}

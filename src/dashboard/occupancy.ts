import type { RunSummary } from '../reporting/records/record.ts';

/** Threads by which a run that goes on trains on the host that it was started on. */
export function threadsOf({ status, start, begin }: RunSummary): number {
  if (status !== 'running' || begin === undefined) return 0;
  const { threads, ranks = 1, hosts } = begin;
  return threads * (hosts ? hosts.filter((host) => host === start.host).length : ranks);
}

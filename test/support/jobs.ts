import { onTestFinished } from 'vitest';
import { type EndedJob, type Job, type JobOptions, launchJob } from './launched-job.ts';
import type { Launcher } from './launchers.ts';

export type { EndedJob, Job, JobOptions } from './launched-job.ts';

/** Starts `dso …` in several ranks. Processes that still run after the test are killed. */
export function startJob(
  launcher: Launcher,
  ranks: number,
  args: readonly string[],
  options: JobOptions,
): Job {
  const job = launchJob(launcher, ranks, args, options);
  onTestFinished(() => job.kill());
  return job;
}

/** Runs `dso …` in several ranks to its end. */
export function runJob(
  launcher: Launcher,
  ranks: number,
  args: readonly string[],
  options: JobOptions,
): Promise<EndedJob> {
  return startJob(launcher, ranks, args, options).ended;
}

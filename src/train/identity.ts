/** What decides the result of a run, for checkpoints and for the processes that train together. */
import { readFileSync } from 'node:fs';
import { hashNumbers, hashText } from '../data/fingerprint.ts';
import type { Identity } from '../engine/checkpoint/file.ts';
import { checkAgreement } from '../engine/processes/agreement.ts';
import type { ProcessGroup } from '../engine/processes/process-group.ts';
import { identityOptions } from './options/index.ts';
import { pick, textOf } from './options/option.ts';
import type { TrainOptions } from './options/options.ts';
import type { Defaults } from './prepare.ts';

/** The options that decide the problem and its starting point; null: not given. */
export function problemIdentity(
  options: TrainOptions,
  settings: Defaults & Pick<TrainOptions, 'lambda'>,
): Identity['options'] {
  const { loss, penalty, lambda, seed, intercept } = settings;
  const decided = { ...options, ...(lambda !== undefined && { lambda }), intercept, seed };
  return {
    loss: loss.name,
    ...(loss.parameterName !== undefined && { [loss.parameterName]: loss.parameter }),
    ...(loss.module !== undefined && { 'loss module': moduleHash(loss.module) }),
    penalty: penalty.name,
    'l1 part': penalty.l1,
    ...identityOptions(decided, penalty),
    'multi-label': options.multiLabel ?? false,
    start: options.start ? hashOfStart(options.start) : null,
  };
}

function hashOfStart({ weights, intercepts, alpha }: NonNullable<TrainOptions['start']>) {
  const given = [weights, intercepts, alpha].filter((numbers) => numbers !== undefined);
  return given.map(hashNumbers).join(' ');
}

function moduleHash(module: string): string {
  try {
    return hashText(readFileSync(new URL(module), 'utf8'));
  } catch {
    return module;
  }
}

/** Options that all processes need or none, whatever their values. */
const together = ['test', 'auprc', 'calibrate', 'checkpoint', 'resume', 'onSample'] as const;

/**
 * Refuses to train in processes with other options, or other data where each has all of it: they
 * would solve no problem together, and certify it, or wait for each other forever.
 */
export async function checkSameTraining(
  group: ProcessGroup,
  options: TrainOptions,
  settings: Defaults,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  if (group.size === 1) return;
  const decided = {
    ...problemIdentity(options, settings),
    ...pick(settings, 'solver', 'tolerance', 'epochs', 'time'),
    'test on': options.testOn ?? 'best',
    ...Object.fromEntries(together.map((name) => [name, options[name] ? 'given' : null])),
    ...more,
  };
  const given = Object.entries(decided).filter(([, value]) => (value ?? null) !== null);
  await checkAgreement(
    group,
    Object.fromEntries(given.map(([name, value]) => [name, textOf(value)])),
  );
}

import { dsoAsyncEngine } from './dso/async.ts';
import { dsoEngine } from './dso.ts';
import type { Engine } from './engine.ts';
import { psgdEngine } from './psgd.ts';
import { ringColumnsEngine } from './ring/columns.ts';
import { ringRowsEngine } from './ring/rows.ts';
import { admmEngine } from './rivals/admm.ts';
import { bmrmEngine } from './rivals/bmrm.ts';
import { dcdEngine } from './rivals/dcd.ts';
import { lbfgsEngine } from './rivals/lbfgs.ts';
import { sgdEngine } from './rivals/sgd.ts';

/** Every solver there is, by the name that models and reports carry. */
export const engines = {
  'ring-rows': ringRowsEngine,
  'ring-columns': ringColumnsEngine,
  dso: dsoEngine,
  'dso-async': dsoAsyncEngine,
  admm: admmEngine,
  dcd: dcdEngine,
  sgd: sgdEngine,
  psgd: psgdEngine,
  bmrm: bmrmEngine,
  lbfgs: lbfgsEngine,
} as const;

export type EngineName = keyof typeof engines;

type SettingsOf<Some> = Some extends Engine<infer Settings, infer _Memory> ? Settings : never;

/** A solver made definite for one problem. */
export type Plan = {
  readonly [Name in EngineName]: {
    readonly engine: Name;
    readonly settings: SettingsOf<(typeof engines)[Name]>;
    /** Why this one, in words. */
    readonly reason: string;
  };
}[EngineName];

/** The engine of a plan; that its settings are the right ones is what Plan says. */
export function engineOf(plan: Pick<Plan, 'engine'>): Engine<unknown, unknown> {
  return engines[plan.engine];
}

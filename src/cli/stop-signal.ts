import { signalExitCodes } from './exit-codes.ts';
import type { Terminal } from './terminal.ts';

/** Resolves with the first signal; the next one ends the process. */
export function stopSignal({ io }: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    io.onSignal((signal) => {
      if (asked) io.exit(signalExitCodes[signal]);
      asked = true;
      resolve();
    });
  });
}

/**
 * A process in which `dso …` runs again and again: for commands that might not end, or end their
 * process. Started by commands.ts.
 */
import { runHere } from '../support/run-here.ts';

process.on('message', ({ args, folder }: { args: string[]; folder: string }) => {
  void runHere(args, folder).then(
    ({ code, stdout, stderr }) => process.send?.({ code, stdout: stdout.toString(), stderr }),
    (error: Error) => process.send?.({ code: -1, stdout: '', stderr: String(error.stack) }),
  );
});

import { UsageError } from '../../errors.ts';
import { exportNotices, exportPieces } from '../../export/export.ts';
import { writeAtomically } from '../../files.ts';
import { readModel } from '../../model/file.ts';
import type { ExportFlags } from '../definitions/export.ts';
import { exitCodes } from '../exit-codes.ts';
import { checkOutput, standardStream } from '../outputs.ts';
import type { Terminal } from '../terminal.ts';

export async function exportCommand(
  path: string,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<number> {
  const target = flags.output ?? standardStream;
  checkOutput('--output', target, [path]);
  const { stdout } = terminal.io;
  if (flags.to === 'onnx' && target === standardStream && stdout.isTTY) {
    throw new UsageError('--to onnx gives binary data, not for a terminal: write it with -o FILE');
  }
  const model = await readModel(path);
  const pieces = exportPieces(model, flags.to);
  if (target === standardStream) await printPieces(pieces, terminal);
  else {
    await writeAtomically(target, async (file) => {
      for (const piece of pieces) await file.write(piece);
    });
  }
  if (!flags.quiet) {
    for (const notice of exportNotices(model, flags.to)) terminal.say(`note: ${notice}`);
  }
  return exitCodes.done;
}

async function printPieces(
  pieces: Iterable<Uint8Array | string>,
  terminal: Terminal,
): Promise<void> {
  for (const piece of pieces) {
    if (terminal.outputClosed) return;
    if (typeof piece === 'string') await terminal.print(piece);
    else {
      await new Promise<void>((resolve, reject) => {
        terminal.io.stdout.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
  }
}

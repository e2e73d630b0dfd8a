import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { readDataset } from '../../../../src/data/read/read.ts';
import { binaryBytes } from '../binary/support.ts';
import { temporaryFolder } from './files.ts';
import { mixedText } from './mixed-text.ts';

/** A folder with these files. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

/** The same rows in one file, `whole`, and as part files in all forms that a file can have. */
export async function partFiles(): Promise<{ whole: string; pattern: string }> {
  const text = [5, 40, 9, 70, 60].map((rows, seed) => mixedText(rows, seed));
  // Binary data does not know what was ignored.
  text[2] = text[2].replaceAll(' qid:1', '');
  const folder = folderWith({
    'whole.svm': text.join(''),
    'part-1.svm': text[0],
    'part-2.svm': '',
    'part-9.svm.gz': gzipSync(text[1]),
    'text.svm': text[2],
    'part-11.svm.zst': zstdCompressSync(text[3]),
    'part-12.svm': text[4],
  });
  const bytes = await binaryBytes(await readDataset(join(folder, 'text.svm')));
  writeFileSync(join(folder, 'part-10.dsob'), bytes);
  return { whole: join(folder, 'whole.svm'), pattern: join(folder, 'part-*') };
}

import { existsSync, readFileSync } from 'node:fs';
import { main } from 'assemblyscript/asc';

const root = new URL('../../', import.meta.url);
const entry = 'assembly/twin.ts';

type NumberFunction = (...values: number[]) => number;

function readSource(name: string, entryText: string): string | null {
  if (name === entry) return entryText;
  // As in the real build: imports carry the extension, and bit work has a version of its own.
  const file = name
    .replace(/\.ts\.ts$/, '.ts')
    .replace(/^src\/math\/bits\.ts$/, 'assembly/bits.ts');
  const url = new URL(file, root);
  return existsSync(url) ? readFileSync(url, 'utf8') : null;
}

/** Compiles the functions a source file exports to WebAssembly, with the flags of the real build. */
export async function compileTwin(file: string): Promise<Record<string, NumberFunction>> {
  let binary: Uint8Array<ArrayBuffer> | undefined;
  const flags = ['-O3', '--runtime', 'stub', '--noAssert'];
  const { error, stderr } = await main([entry, '--outFile', 'twin.wasm', ...flags], {
    readFile: (name) => readSource(name, `export * from '../${file}';`),
    writeFile: (_name, contents) => {
      binary = new Uint8Array(contents as Uint8Array<ArrayBuffer>);
    },
    listFiles: () => null,
  });
  if (error || binary === undefined) throw new Error(`${file}: ${stderr}`);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(binary), {});
  return instance.exports as unknown as Record<string, NumberFunction>;
}

/** The part of AssemblyScript's compiler interface that build-wasm.mjs uses. */
export interface CompilerHost {
  readFile(name: string, baseFolder: string): string | null;
  writeFile(name: string, contents: Uint8Array): void;
  listFiles(folder: string, baseFolder: string): string[] | null;
}

export interface CompilerResult {
  readonly error: Error | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function main(argv: readonly string[], host: CompilerHost): Promise<CompilerResult>;

import type binaryen from 'assemblyscript/binaryen';

/** The part of AssemblyScript's compiler interface that build-wasm.mjs uses. */
export interface CompilerHost {
  readFile(name: string, baseFolder: string): string | null;
  writeFile(name: string, contents: Uint8Array): void;
  listFiles(folder: string, baseFolder: string): string[] | null;
  /** Made and called while a program is compiled. */
  readonly transforms?: readonly (new () => object)[];
}

/** What `assemblyscript/transform` exports; the compiler sets both before it makes a transform. */
export declare class Transform {
  readonly program: {
    readonly options: { target: number; readonly sizeTypeRef: number };
    readonly module: { sizeType: number };
  };
  readonly binaryen: typeof binaryen;
}

export interface CompilerResult {
  readonly error: Error | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function main(argv: readonly string[], host: CompilerHost): Promise<CompilerResult>;

import { DsoError } from '../errors.ts';

/** A C function; typed arrays are passed by address. */
export type ForeignFunction = (...values: unknown[]) => number;

/** A shared library of the system. */
export interface ForeignLibrary {
  func(prototype: string): ForeignFunction;
  symbol(name: string, type: string): unknown;
}

/** The part of koffi that is used here. */
export interface Foreign {
  load(path: string, options: { global: boolean; lazy: boolean }): ForeignLibrary;
  address(symbol: unknown): bigint;
}

/**
 * koffi calls C functions without a compiler. Its binary comes in a package per platform, which
 * unlike the main package wants to run nothing on installation.
 */
export async function loadForeign(): Promise<Foreign> {
  const names = [`@koromix/koffi-${process.platform}-${process.arch}`, 'koffi'];
  for (const name of names) {
    try {
      const { default: foreign } = (await import(name)) as { default: Foreign };
      return foreign;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new DsoError(
    'failure',
    `MPI needs the package ${names[0]} (an optional dependency that was left out): npm install ${names[0]}`,
  );
}

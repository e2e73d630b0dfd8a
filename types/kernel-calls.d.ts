/** The calls of the kernels, which the build writes; here for checks before the first build. */
declare module '*/wasm/calls.js' {
  export function kernelCalls(
    wasm: Record<string, unknown>,
    parameter: number,
  ): Omit<import('../src/solvers/kernels/kernels.ts').Kernels, 'name'>;
}

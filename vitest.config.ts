import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = {
  // No test is about time: these end what hangs, also on a machine with ten times as much to do.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  // A test that starts the command line tool must not inherit colours or a terminal from here, nor
  // leave records of its runs.
  env: { NO_COLOR: '1', DSO_NO_RECORD: '1' },
};

/**
 * Tests that keep one core busy each, and so may run beside one another. All others start threads
 * or processes that hand work to one another, and have the machine for themselves.
 */
const single = [
  'test/laws/**/*.test.ts',
  'test/reference/**/*.test.ts',
  'test/conformance/{bounded-weights,bounds,factors,liblinear-train,optimum,stored,sweep,weights}.test.ts',
  'test/unit/{compare,experiments,export,kernels,losses,math,metrics,model,objective,penalties}/**/*.test.ts',
  'test/unit/{predict,select,ui,ui-panels}/**/*.test.ts',
  'test/unit/data/**/*.test.ts',
  'test/unit/online/**/*.test.ts',
  'test/unit/parallel/{arena,grid,lodging,look,partition,segments,traffic,window}.test.ts',
  'test/unit/solvers/{bundle-program,choose,curvature-history,dcd,dso,highlights}.test.ts',
  'test/unit/solvers/{own-changes,parts,segment-order,sgd,whole-columns}.test.ts',
  'test/unit/train/{memory,stream-shuffle}.test.ts',
  'test/unit/checkpoint/{file,parts,ranks}.test.ts',
  'test/unit/runs/{document,id,labels,line,range,thinning}.test.ts',
  'test/unit/serve/{lines,metrics,scorer}.test.ts',
  'test/unit/*.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'single',
          include: single,
          maxWorkers: Math.min(4, availableParallelism()),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'threads and processes',
          include: ['test/**/*.test.ts'],
          exclude: single,
          maxWorkers: 1,
          // Of one file: commands that keep a core each, where the file says `concurrent`.
          maxConcurrency: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

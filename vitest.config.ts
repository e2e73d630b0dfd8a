import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // No test is about time: these limits end what hangs, also on a very busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // One more than cores: some tests wait for what takes its time, such as a process that is lost.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Concurrent tests of one file start processes that use a core each.
    maxConcurrency: 2,
    // All files of a worker share its modules, which are loaded once: a file that mocks one or changes
    // the process must undo that.
    isolate: false,
    // A test that starts the command line tool must not inherit colours or a terminal from here, nor
    // leave records of its runs.
    env: { NO_COLOR: '1', DSO_NO_RECORD: '1' },
  },
});

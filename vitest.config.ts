import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // No test is about time: these end what hangs, also on a machine with ten times as much to do.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A test that starts the command line tool must not inherit colours or a terminal from here, nor
    // leave records of its runs.
    env: { NO_COLOR: '1', DSO_NO_RECORD: '1' },
  },
});

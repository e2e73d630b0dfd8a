import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test that starts the command line tool must not inherit colours or a terminal from here, nor
    // leave records of its runs.
    env: { NO_COLOR: '1', DSO_NO_RECORD: '1' },
  },
});

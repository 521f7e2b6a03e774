import path from 'node:path';
import { defineConfig } from 'vitest/config';

const PURE = [
  'test/core/**/*.test.ts',
  'test/charts/**/*.test.ts',
  'test/pure/**/*.test.ts',
  'test/architecture.test.ts',
];
/** Long ones: `npm run test:full`. */
const FULL = ['test/full/**/*.test.ts'];

/** Suites on a real Postgres, one for the run; each file is a process of its own. */
const onDatabase = {
  globalSetup: ['test/support/globalDatabase.ts'],
  pool: 'forks' as const,
  testTimeout: 60_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  resolve: {
    alias: {
      '@': import.meta.dirname,
      // `server-only` throws outside Next; in tests it means nothing
      'server-only': path.join(import.meta.dirname, 'test/support/empty.ts'),
    },
  },
  test: {
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'pure', include: PURE, testTimeout: 60_000, sequence: { groupOrder: 0 } } },
      {
        extends: true,
        test: {
          ...onDatabase,
          name: 'database',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...FULL],
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { ...onDatabase, name: 'full', include: FULL, testTimeout: 900_000, sequence: { groupOrder: 2 } },
      },
    ],
  },
});

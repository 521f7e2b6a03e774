import path from 'node:path';
import { defineConfig } from 'vitest/config';

const PURE = [
  'test/core/**/*.test.ts',
  'test/charts/**/*.test.ts',
  'test/pure/**/*.test.ts',
  'test/architecture.test.ts',
];

export default defineConfig({
  resolve: {
    alias: {
      '@': import.meta.dirname,
      // `server-only` throws outside Next; in tests it means nothing
      'server-only': path.join(import.meta.dirname, 'test/support/empty.ts'),
    },
  },
  test: {
    projects: [
      { extends: true, test: { name: 'pure', include: PURE } },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, 'test/full/**'],
          globalSetup: ['test/support/globalDatabase.ts'],
          pool: 'forks',
          maxWorkers: 2,
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});

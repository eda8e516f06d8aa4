import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'test/unit/**/*.test.ts',
      'test/spring/**/*.test.ts',
      'test/registries/*.test.ts',
      'test/e2e/**/*.test.ts',
    ],
    globalSetup: 'test/registries/install-witnesses.ts',
    testTimeout: 60_000,
    pool: 'threads',
    // Two at least: some files mostly wait for what is not in their hands.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
})

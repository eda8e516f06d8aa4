import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/registries/real/*.real.ts'],
    // A server of Java's is started anew in some.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    pool: 'threads',
    // Servers of several files at once would disturb each other's bounds.
    fileParallelism: false,
  },
})

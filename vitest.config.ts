import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'test/unit/**/*.test.ts',
      'test/spring/**/*.test.ts',
      'test/registries/*.test.ts',
      'test/e2e/**/*.test.ts',
    ],
    testTimeout: 60_000,
    pool: 'threads',
  },
})

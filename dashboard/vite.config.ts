import { defineConfig } from 'vite'

/**
 * Builds to `dashboard/dist`. Paths are relative, so that the pages work behind a proxy under any
 * path; nothing is inlined, since the policy of the pages allows files of this server only.
 */
// biome-ignore lint/style/noDefaultExport: Vite reads the default export.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    assetsDir: 'dashboard',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2022',
  },
})

import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compress } from '../compress.ts'
import { sections } from './pages.ts'
import { renderPage, type SearchEntry } from './render.ts'

const root = join(import.meta.dirname, '../..')

/** Writes the documentation site into `folder`, which it empties first. */
export function buildGuide(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string
  }
  const entries: SearchEntry[] = []
  for (const page of sections.flatMap(({ pages }) => pages)) {
    const rendered = renderPage(page, readFileSync(join(root, page.file), 'utf8'), version)
    entries.push(...rendered.entries)
    const path = join(folder, rendered.address)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, rendered.html)
  }
  writeFileSync(join(folder, 'search.json'), JSON.stringify(entries))
  for (const name of ['guide.css', 'search.js']) {
    copyFileSync(join(root, 'guide', name), join(folder, name))
  }
  const library = readFileSync(join(root, 'node_modules/minisearch/dist/es/index.js'), 'utf8')
  writeFileSync(join(folder, 'minisearch.js'), library.replace(/^\/\/# sourceMappingURL.*$/m, ''))
  for (const name of globSync('**/*.*', { cwd: folder })) compress(join(folder, name))
}

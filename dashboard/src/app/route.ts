import { signal } from '@preact/signals'

/** The parts of the address after `#/`: such as `['pre-recorded', ID]`. */
export const route = signal<string[]>(readRoute())

/** The query of the address, which follows these parts after a question mark. */
export const routeQuery = signal<string>(readQuery())

function readRoute(): string[] {
  const path = location.hash.replace(/^#\/?/, '').split('?', 1)[0]!
  return path.split('/').filter(Boolean).map(decode)
}

function readQuery(): string {
  const at = location.hash.indexOf('?')
  return at < 0 ? '' : location.hash.slice(at + 1)
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

addEventListener('hashchange', () => {
  route.value = readRoute()
  routeQuery.value = readQuery()
})

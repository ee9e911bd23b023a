import { signal } from '@preact/signals'

/** The parts of the address behind `#/`: such as `['pre-recorded', ID]`. */
export const route = signal<string[]>(readRoute())

function readRoute(): string[] {
  const path = location.hash.replace(/^#\/?/, '').split('?', 1)[0]!
  return path.split('/').filter(Boolean).map(decode)
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
})

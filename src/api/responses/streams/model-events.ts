import type { PullState } from '../../../models/pull-queue.ts'

/** The data of an event of the type `model`. */
type ModelEvent = {
  name: string
  status: 'pulling' | 'installed' | 'failed'
  fraction?: number
  seconds_left?: number | null
  message?: string
}

/**
 * Returns a function that compares the pulls with those of its last call, and returns the events
 * about what has changed, as JSON. The first call reports only running pulls.
 */
export function createModelEvents(pulls: () => PullState[]): () => string[] {
  let before = new Map<string, string>()
  let isFirst = true
  return () => {
    const now = new Map(pulls().map((pull) => [pull.name, JSON.stringify(toEvent(pull))]))
    const gone = [...before].filter(([name, event]) => !now.has(name) && isPulling(event))
    const installed = gone.map(([name]) => JSON.stringify({ name, status: 'installed' }))
    const changed = [...now].filter(([name, event]) => {
      return before.get(name) !== event && (isPulling(event) || !isFirst)
    })
    before = now
    isFirst = false
    return [...changed.map(([, event]) => event), ...installed]
  }
}

function toEvent(pull: PullState): ModelEvent {
  const { name } = pull
  if ('failure' in pull) return { name, status: 'failed', message: pull.failure }
  const { fraction, secondsLeft } = pull.progress
  return { name, status: 'pulling', fraction: round(fraction), seconds_left: secondsLeft }
}

function isPulling(event: string): boolean {
  return (JSON.parse(event) as ModelEvent).status === 'pulling'
}

function round(fraction: number): number {
  return Math.round(fraction * 1000) / 1000
}

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
  let previousEvents = new Map<string, string>()
  let isFirst = true
  return () => {
    const currentEvents = new Map(pulls().map((pull) => [pull.name, JSON.stringify(toEvent(pull))]))
    const finishedPulls = [...previousEvents].filter(
      ([name, event]) => !currentEvents.has(name) && isPulling(event),
    )
    const installed = finishedPulls.map(([name]) => JSON.stringify({ name, status: 'installed' }))
    const changed = [...currentEvents].filter(([name, event]) => {
      return previousEvents.get(name) !== event && (isPulling(event) || !isFirst)
    })
    previousEvents = currentEvents
    isFirst = false
    return [...changed.map(([, event]) => event), ...installed]
  }
}

function toEvent(pull: PullState): ModelEvent {
  const { name } = pull
  if ('failure' in pull) return { name, status: 'failed', message: pull.failure }
  const { fraction, secondsLeft } = pull.progress
  return { name, status: 'pulling', fraction: roundFraction(fraction), seconds_left: secondsLeft }
}

function isPulling(event: string): boolean {
  return (JSON.parse(event) as ModelEvent).status === 'pulling'
}

function roundFraction(fraction: number): number {
  return Math.round(fraction * 1000) / 1000
}

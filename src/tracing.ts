import type { Log } from './log.ts'
import type { TracingSettings } from './tracing/settings.ts'

/** What is known of a span: ids and numbers, never text that was spoken, keys, or URLs with tokens. */
export type SpanAttributes = Record<string, string | number | boolean>

/** Where a span belongs, and when it began. */
export type SpanOptions = {
  /** Whether another program waits for it (`server`), or is waited for (`client`). */
  kind?: 'server' | 'client'
  /** The header `traceparent` of a request, as it came. */
  traceparent?: string | undefined
  /** On the clock of `performance.now()`; now by default. */
  startedAt?: number
}

/** A stretch of work in a trace. */
export type Span = {
  /** Notes what was not known when it began. */
  set(attributes: SpanAttributes): void
  /** Begins a span within this one. */
  start(name: string, attributes?: SpanAttributes, options?: SpanOptions): Span
  /** Ends it, as failed when there is an `error`: of that only the code is told. */
  end(error?: unknown): void
}

/** Makes spans, and sends them to a collector. */
export type Tracing = {
  /** Begins a trace, or what this server does in another's; whoever begins it ends it. */
  start(name: string, attributes?: SpanAttributes, options?: SpanOptions): Span
  /** Sends what is left, within a few seconds, and no more. */
  close(): Promise<void>
}

const noSpan: Span = { set() {}, start: () => noSpan, end() {} }

/** Traces nothing, at no cost. */
export const noTracing: Tracing = { start: () => noSpan, close: async () => {} }

/** Sends traces as the settings say; without them it loads nothing and does nothing. */
export async function createTracing(
  { tracing }: { tracing: TracingSettings | undefined },
  log: Log,
): Promise<Tracing> {
  if (!tracing) return noTracing
  const { openOtlp } = await import('./tracing/otlp.ts')
  return openOtlp(tracing, log)
}

/** Does `work` within a span, which ends with it. */
export async function traced<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

import type { Log } from './log.ts'
import type { TracingSettings } from './tracing-settings.ts'

/** The attributes of a span: ids and numbers, never recognized text, keys, or URLs with tokens. */
export type SpanAttributes = Record<string, string | number | boolean>

/** The parent, the kind and the start of a span. */
export type SpanOptions = {
  /** `server`: another program waits for it; `client`: this program waits for another one. */
  kind?: 'server' | 'client'
  /** The `traceparent` header of a request, unparsed. */
  traceparent?: string | undefined
  /** On the clock of `performance.now()`; now by default. */
  startedAt?: number
}

/** A unit of work in a trace. */
export type TraceSpan = {
  /** Adds attributes that were not known at the start. */
  set(attributes: SpanAttributes): void
  /** Starts a span within this one. */
  start(name: string, attributes?: SpanAttributes, options?: SpanOptions): TraceSpan
  /** Ends it, as failed if there is an `error`, of which only the code is exported. */
  end(error?: unknown): void
}

/** Creates spans, and sends them to a collector. */
export type Tracing = {
  /** Starts a trace, or this server's part of a remote one; the caller must end it. */
  start(name: string, attributes?: SpanAttributes, options?: SpanOptions): TraceSpan
  /** Sends the remaining spans, within a few seconds; later spans are dropped. */
  close(): Promise<void>
}

const noSpan: TraceSpan = { set() {}, start: () => noSpan, end() {} }

/** Traces nothing, at no cost. */
export const noTracing: Tracing = { start: () => noSpan, close: async () => {} }

/** Sends traces as the settings say; without settings it loads nothing and does nothing. */
export async function createTracing(
  { tracing }: { tracing: TracingSettings | undefined },
  log: Log,
): Promise<Tracing> {
  if (!tracing) return noTracing
  const { openOtlp } = await import('./otlp.ts')
  return openOtlp(tracing, log)
}

/** Runs `work` within a span, which ends with it. */
export async function traced<T>(
  span: TraceSpan,
  work: (span: TraceSpan) => Promise<T>,
): Promise<T> {
  try {
    const result = await work(span)
    span.end()
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

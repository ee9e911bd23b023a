import {
  type Context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { AppError } from '../errors.ts'
import type { Log } from './log.ts'
import type { SpanOptions, TraceSpan, Tracing } from './tracing.ts'
import type { SamplerSettings, TracingSettings } from './tracing-settings.ts'
import { type Exporter, watchExporter } from './watch-exporter.ts'

/** The longest wait for a collector at the stop. */
const CLOSE_MS = 3000

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT }

/**
 * Sends spans over OTLP, in batches and in the background. If the collector cannot keep up or is
 * unavailable, only spans are lost: at most 2048 of them wait.
 */
export async function openOtlp(settings: TracingSettings, log: Log): Promise<Tracing> {
  const exporter = watchExporter(await createExporter(settings), log.child({ module: 'tracing' }))
  const provider = new TracerProvider({
    resource: describeServer(),
    sampler: createTraceSampler(settings.sampler),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('steno')
  return {
    start(name, attributes, options) {
      return startSpan(tracer, { name, attributes, ...options, parent: callerOf(options) })
    },
    async close() {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, CLOSE_MS)
      // Errors of the exporter are already logged.
      await Promise.race([provider.shutdown().catch(() => {}), late])
      clearTimeout(timer)
    },
  }
}

async function createExporter({ protocol }: TracingSettings): Promise<Exporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}

/** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` take precedence over our values. */
function describeServer() {
  const detectors = [resourceAttributesEnvDetector, serviceNameEnvDetector]
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'steno' }))
    .merge(detectResources({ detectors }))
}

function createTraceSampler({ isParentBased, ratio }: SamplerSettings): Sampler {
  const root =
    ratio === 1
      ? new AlwaysOnSampler()
      : ratio === 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio)
  return isParentBased ? new ParentBasedSampler({ root }) : root
}

type StartedSpan = SpanOptions & {
  name: string
  attributes: Parameters<Tracing['start']>[1]
  parent: Context
}

function startSpan(
  tracer: Tracer,
  { name, attributes, kind, startedAt, parent }: StartedSpan,
): TraceSpan {
  const options = {
    kind: kind ? kinds[kind] : SpanKind.INTERNAL,
    ...(attributes && { attributes }),
    ...(startedAt !== undefined && { startTime: startedAt }),
  }
  const span = tracer.startSpan(name, options, parent)
  return {
    set: (more) => void span.setAttributes(more),
    start: (name, attributes, options) => {
      return startSpan(tracer, {
        name,
        attributes,
        ...options,
        parent: trace.setSpan(parent, span),
      })
    },
    end: (error) => endSpan(span, error),
  }
}

/** Exports only the code of an error: a message may quote data that must not be in a trace. */
function endSpan(span: OtelSpan, error: unknown): void {
  if (error !== undefined) {
    const name = error instanceof Error ? error.name : 'Error'
    span.setAttribute('error.type', error instanceof AppError ? error.code : name)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(performance.now())
}

/** Returns the span of the caller, from a `traceparent` header (W3C Trace Context, section 3.2). */
function callerOf({ traceparent = '' }: SpanOptions = {}): Context {
  const form = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-|$)/
  const [, traceId, spanId, flags] = form.exec(traceparent.trim()) ?? []
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & 1
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

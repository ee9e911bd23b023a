import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Log } from './log.ts'

/** Sends spans to a collector. */
export type Exporter = SpanExporter

type ExporterResult = Parameters<Parameters<SpanExporter['export']>[1]>[0]

/** `ExportResultCode.SUCCESS` of the OpenTelemetry SDK. */
const SUCCESS = 0

/** Logs once when the export of spans begins to fail, and once when it works again. */
export function watchExporter(exporter: Exporter, log: Log): Exporter {
  let isFailing = false

  function note({ code, error }: ExporterResult): void {
    const fails = code !== SUCCESS
    if (fails === isFailing) return
    isFailing = fails
    // Logs neither the body of a response nor our headers, which may hold a key.
    if (fails) log.warn({ reason: error?.message }, 'cannot send traces, dropping them')
    else log.info('sending traces again')
  }

  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        note(result)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}

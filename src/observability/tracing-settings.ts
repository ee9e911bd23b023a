/**
 * The sampling of traces and the format in which they are sent; the exporter itself reads the
 * endpoint.
 */
export type TracingSettings = {
  protocol: 'http/protobuf' | 'http/json'
  sampler: SamplerSettings
}

/**
 * `ratio`: the share of traces that is sent, 0 to 1. A parent-based sampler follows the caller's
 * decision.
 */
export type SamplerSettings = { isParentBased: boolean; ratio: number }

type Env = Record<string, string | undefined>

const samplers: Record<string, { isParentBased: boolean; ratio: 0 | 1 | 'argument' }> = {
  always_on: { isParentBased: false, ratio: 1 },
  always_off: { isParentBased: false, ratio: 0 },
  traceidratio: { isParentBased: false, ratio: 'argument' },
  parentbased_always_on: { isParentBased: true, ratio: 1 },
  parentbased_always_off: { isParentBased: true, ratio: 0 },
  parentbased_traceidratio: { isParentBased: true, ratio: 'argument' },
}

/**
 * Reads the variables of the OpenTelemetry specification ("OpenTelemetry environment variable
 * specification", "OTLP exporter configuration") that say whether and which traces are sent;
 * undefined if none are.
 */
export function readTracing(env: Env, problems: string[]): TracingSettings | undefined {
  const text = (name: string) => env[name]?.trim() || undefined
  const settingProblems: string[] = []
  const isDisabled = text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const exporter = text('OTEL_TRACES_EXPORTER')
  const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
  const definedEndpoints = endpoints.filter((name) => text(name) !== undefined)
  const settings = {
    protocol: readProtocol(text, settingProblems),
    sampler: readSampler(text, settingProblems),
  }
  if (exporter !== undefined && exporter !== 'otlp' && exporter !== 'none') {
    settingProblems.push('OTEL_TRACES_EXPORTER must be otlp or none')
  }
  for (const name of definedEndpoints) {
    // The exporter would silently send to this machine instead.
    const url = text(name)!
    if (URL.canParse(url) && /^https?:/i.test(url)) continue
    settingProblems.push(`${name} must be an absolute http or https URL`)
  }
  const isWanted = exporter === undefined ? definedEndpoints.length > 0 : exporter !== 'none'
  if (!isWanted || isDisabled) return undefined
  // Variables meant for other programs must not keep a server without tracing from starting.
  problems.push(...settingProblems)
  return settings
}

type ReadVariable = (name: string) => string | undefined

function readProtocol(text: ReadVariable, problems: string[]): TracingSettings['protocol'] {
  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']
  const [given] = names.flatMap((name) => {
    const value = text(name)
    return value === undefined ? [] : [{ name, value }]
  })
  const { name, value } = given ?? { name: '', value: 'http/protobuf' }
  if (value === 'http/protobuf' || value === 'http/json') return value
  const port = value === 'grpc' ? ', which collectors take at port 4318: grpc is not supported' : ''
  problems.push(`${name} must be http/protobuf or http/json${port}`)
  return 'http/protobuf'
}

function readSampler(text: ReadVariable, problems: string[]): SamplerSettings {
  const argument = text('OTEL_TRACES_SAMPLER_ARG') ?? '1'
  const name = text('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on'
  const sampler = Object.hasOwn(samplers, name) ? samplers[name] : undefined
  if (!sampler) {
    problems.push(`OTEL_TRACES_SAMPLER must be one of: ${Object.keys(samplers).join(', ')}`)
    return { isParentBased: true, ratio: 1 }
  }
  const { isParentBased, ratio } = sampler
  if (ratio !== 'argument') return { isParentBased, ratio }
  if (Number(argument) >= 0 && Number(argument) <= 1) {
    return { isParentBased, ratio: Number(argument) }
  }
  problems.push('OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1')
  return { isParentBased, ratio: 1 }
}

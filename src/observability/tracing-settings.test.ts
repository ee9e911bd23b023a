import assert from 'node:assert/strict'
import test from 'node:test'
import { readTracing } from './tracing-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

/** Reads settings that must be valid. */
function read(env: Record<string, string>) {
  const problems: string[] = []
  const settings = readTracing(env, problems)
  assert.deepEqual(problems, [])
  return settings
}

/** Returns the problems of an environment that names an endpoint. */
function problemsOf(env: Record<string, string>): string {
  const problems: string[] = []
  readTracing({ ...ENDPOINT, ...env }, problems)
  return problems.join('\n')
}

test('tracing is enabled by an endpoint or exporter', () => {
  assert.equal(read({}), undefined)
  assert.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }), undefined)
  const usual = { protocol: 'http/protobuf', sampler: { isParentBased: true, ratio: 1 } }
  assert.deepEqual(read(ENDPOINT), usual)
  assert.deepEqual(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x/v1/traces' }), usual)
  assert.deepEqual(read({ OTEL_TRACES_EXPORTER: 'otlp' }), usual)
})

test('tracing can be disabled despite an endpoint', () => {
  assert.equal(read({ ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }), undefined)
  assert.equal(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }), undefined)
  assert.ok(read({ ...ENDPOINT, OTEL_SDK_DISABLED: 'false' }))
})

test('the traces protocol takes precedence over the general one', () => {
  const protocol = (env: Record<string, string>) => read({ ...ENDPOINT, ...env })?.protocol
  assert.equal(protocol({ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }), 'http/json')
  const both = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  }
  assert.equal(protocol(both), 'http/json')
})

test('every sampler of the specification is supported', () => {
  const sampler = (name: string) => {
    return read({ ...ENDPOINT, OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: '0.25' })
      ?.sampler
  }
  assert.deepEqual(sampler('always_on'), { isParentBased: false, ratio: 1 })
  assert.deepEqual(sampler('always_off'), { isParentBased: false, ratio: 0 })
  assert.deepEqual(sampler('traceidratio'), { isParentBased: false, ratio: 0.25 })
  assert.deepEqual(sampler('parentbased_always_on'), { isParentBased: true, ratio: 1 })
  assert.deepEqual(sampler('parentbased_always_off'), { isParentBased: true, ratio: 0 })
  assert.deepEqual(sampler('parentbased_traceidratio'), { isParentBased: true, ratio: 0.25 })
})

test('unsupported tracing variables are ignored while tracing is off', () => {
  const wrong = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'jaeger_remote' }
  assert.equal(read(wrong), undefined)
  assert.equal(read({ ...ENDPOINT, ...wrong, OTEL_SDK_DISABLED: 'true' }), undefined)
  assert.equal(read({ ...ENDPOINT, ...wrong, OTEL_TRACES_EXPORTER: 'none' }), undefined)
})

test('an unsupported tracing setting is rejected with its variable', () => {
  assert.match(
    problemsOf({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }),
    /^OTEL_EXPORTER_OTLP_PROTOCOL must be http\/protobuf or http\/json, .*grpc is not supported$/,
  )
  assert.match(
    problemsOf({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'udp' }),
    /^OTEL_EXPORTER_OTLP_TRACES_PROTOCOL must be http\/protobuf or http\/json$/,
  )
  assert.match(problemsOf({ OTEL_TRACES_EXPORTER: 'zipkin' }), /^OTEL_TRACES_EXPORTER must be /)
  assert.match(problemsOf({ OTEL_TRACES_SAMPLER: 'toString' }), /^OTEL_TRACES_SAMPLER must be /)
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']) {
    for (const wrong of ['collector', 'collector:4318', 'ftp://collector']) {
      assert.match(problemsOf({ [name]: wrong }), new RegExp(`^${name} must be an absolute`), wrong)
    }
  }
  for (const wrong of ['1.5', '-1', 'half']) {
    const env = { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: wrong }
    assert.match(problemsOf(env), /^OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1$/, wrong)
  }
})

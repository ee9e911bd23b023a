import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import protobuf from 'protobufjs'

/** The fields of a span that tests check; ids in hexadecimal, `parent` empty for a root. */
export type CollectedSpan = {
  name: string
  trace: string
  id: string
  parent: string
  kind: number
  isError: boolean
  milliseconds: number
  attributes: Record<string, unknown>
}

/** A trace collector on this machine, and the spans received so far. */
export type TraceCollector = {
  url: string
  spans: CollectedSpan[]
  /** Attributes of the server that sent the spans. */
  resource: Record<string, unknown>
  requests: { path: string; headers: IncomingHttpHeaders; body: Buffer }[]
  close(): Promise<void>
}

/** The part of `opentelemetry/proto/collector/trace/v1` that is read here. */
const { root } = protobuf.parse(`syntax = "proto3";
  message Request { repeated ResourceSpans resourceSpans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
    fixed64 startTimeUnixNano = 7; fixed64 endTimeUnixNano = 8;
    repeated KeyValue attributes = 9; Status status = 15;
  }
  message Status { int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value {
    string stringValue = 1; bool boolValue = 2; int64 intValue = 3; double doubleValue = 4;
  } }`)

type KeyValue = { key: string; value: Record<string, unknown> }
type WireSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes?: KeyValue[]
  status?: { code?: number }
}
type Request = {
  resourceSpans: { resource: { attributes: KeyValue[] }; scopeSpans: { spans: WireSpan[] }[] }[]
}

/** Starts a collector that accepts OTLP over HTTP, as protobuf and as JSON. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { url: path = '', headers } = request
    collector.requests.push({ path, headers, body })
    const isJson = headers['content-type'] === 'application/json'
    const { resourceSpans } = isJson ? JSON.parse(String(body)) : decode(body)
    for (const { resource, scopeSpans } of resourceSpans as Request['resourceSpans']) {
      Object.assign(collector.resource, valuesOf(resource.attributes))
      for (const { spans } of scopeSpans) collector.spans.push(...spans.map(toSpan))
    }
    response.setHeader('content-type', headers['content-type'] ?? '')
    response.end(isJson ? '{}' : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    resource: {},
    requests: [],
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
  return collector
}

/** Decodes protobuf into the JSON form: ids in hexadecimal. */
function decode(body: Buffer): Request {
  const type = root.lookupType('Request')
  const options = { longs: String, bytes: Array, defaults: false }
  const decoded = type.toObject(type.decode(body), options) as Request
  for (const { scopeSpans } of decoded.resourceSpans) {
    for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
      span.traceId = hexOf(span.traceId)
      span.spanId = hexOf(span.spanId)
      span.parentSpanId = hexOf(span.parentSpanId ?? [])
    }
  }
  return decoded
}

function hexOf(bytes: unknown): string {
  return Buffer.from(bytes as number[]).toString('hex')
}

function toSpan(span: WireSpan): CollectedSpan {
  const nanoseconds = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)
  return {
    name: span.name,
    trace: span.traceId,
    id: span.spanId,
    parent: span.parentSpanId ?? '',
    kind: span.kind,
    isError: span.status?.code === 2,
    milliseconds: Number(nanoseconds) / 1e6,
    attributes: valuesOf(span.attributes ?? []),
  }
}

function valuesOf(attributes: readonly KeyValue[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

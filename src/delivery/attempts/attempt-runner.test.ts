import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { pino } from 'pino'
import {
  openDelivery,
  openTestReceiver,
  queueMessages,
} from '../../../test/support/delivery/test-delivery-service.ts'
import { createMetrics } from '../../observability/metrics.ts'
import type { SpanAttributes, Tracing } from '../../observability/tracing.ts'

test('each attempt is logged with ids and outcome, without credentials', async (t) => {
  const stream = new PassThrough()
  const service = await openDelivery(t, { log: pino(stream) })
  const statuses = [500, 200, 410]
  const receiver = await openTestReceiver(t, () => statuses.shift())
  const url = `${receiver.url.replace('http://', 'http://me:pass@')}/hook?key=secret`
  const jobId = await queueMessages(service, url, { count: 2 })
  await service.pass()
  const [first, second] = await service.deliveries(jobId)
  const text = String(stream.read())
  assert.doesNotMatch(text, /secret|pass|127\.0\.0\.1/)
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ msg, ...of }) => [msg, of.deliveryId, of.jobId, of.attempt, of.outcome, of.status])
  assert.deepEqual(lines, [
    ['delivery will be retried', first!.id, jobId, 1, 'retry', 500],
    ['delivered', first!.id, jobId, 2, 'delivered', 200],
    ['delivery failed', second!.id, jobId, 1, 'failed', 410],
  ])
})

test('attempts are counted by outcome', async (t) => {
  const metrics = createMetrics()
  const service = await openDelivery(t, { metrics })
  const statuses = [500, undefined, 200, 410]
  const receiver = await openTestReceiver(t, (_, response) => {
    const status = statuses.shift()
    if (status === undefined) response.destroy()
    return status
  })
  await queueMessages(service, receiver.url, { count: 2 })
  await service.pass()
  const counted = async (name: 'deliveryAttempts' | 'deliveriesEnded') => {
    const { values } = await metrics[name].get()
    const seen = values.filter(({ labels, value }) => labels.kind === 'live' && value > 0)
    return Object.fromEntries(seen.map(({ labels, value }) => [labels.outcome, value]))
  }
  const attempts = { refused: 2, unanswered: 1, delivered: 1 }
  assert.deepEqual(await counted('deliveryAttempts'), attempts)
  assert.deepEqual(await counted('deliveriesEnded'), { delivered: 1, failed: 1 })
  const { values } = await metrics.deliveryAttemptSeconds.get()
  const total = values.find(({ metricName, labels }) => {
    return metricName === 'steno_delivery_attempt_seconds_count' && labels.kind === 'live'
  })
  assert.equal(total!.value, 4)
})

test('each attempt is traced as a span with its ids and outcome', async (t) => {
  const spans: { name: string; attributes: SpanAttributes; isEnded: boolean }[] = []
  const tracing: Tracing = {
    start(name, attributes = {}) {
      const span = { name, attributes: { ...attributes }, isEnded: false }
      spans.push(span)
      return {
        set: (more) => void Object.assign(span.attributes, more),
        start: () => assert.fail('no span within'),
        end() {
          span.isEnded = true
        },
      }
    },
    close: async () => {},
  }
  const service = await openDelivery(t, { tracing })
  const statuses = [503, 200]
  const receiver = await openTestReceiver(t, () => statuses.shift())
  const jobId = await queueMessages(service, receiver.url)
  await service.pass()
  const [delivery] = await service.deliveries(jobId)
  const expected = [
    [1, 'retry', 503],
    [2, 'delivered', 200],
  ].map(([attempt, outcome, status]) => ({
    name: 'delivery attempt',
    attributes: {
      'steno.delivery.id': delivery!.id,
      'steno.delivery.kind': 'live',
      'steno.delivery.attempt': attempt,
      'steno.delivery.outcome': outcome,
      'steno.endpoint.id': delivery!.endpointId,
      'steno.job.id': jobId,
      'http.response.status_code': status,
    },
    isEnded: true,
  }))
  assert.deepEqual(spans, expected)
})

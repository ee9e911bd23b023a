import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import Fastify from 'fastify'
import type { JobAddOn } from '../../../jobs/results/add-on-retry.ts'
import { addOnRetryRoute } from './add-on-retry.ts'

test('add-on retries run one at a time per account, other accounts beside them', async (t) => {
  const http = Fastify()
  t.after(() => http.close())
  http.setValidatorCompiler(() => () => true)
  http.setSerializerCompiler(() => String)
  http.decorateRequest('account', '')
  http.addHook('onRequest', async (request) => {
    request.account = String(request.headers.account)
  })
  const begun: string[] = []
  const held = new Map<string, PromiseWithResolvers<string>>()
  const retryAddOn = ({ account, name }: JobAddOn) => {
    begun.push(`${account} ${name}`)
    held.set(name, Promise.withResolvers())
    return held.get(name)!.promise
  }
  await http.register(addOnRetryRoute({ jobs: { service: { retryAddOn } } as never }))
  const retry = (account: string, name: string) => {
    const url = `/v2/pre-recorded/id/addons/${name}/retry`
    return http.inject({ method: 'POST', url, headers: { account } })
  }
  const responses = [retry('red', 'a'), retry('red', 'b'), retry('blue', 'c')]
  while (begun.length < 2) await delay(5)
  assert.deepEqual(begun, ['red a', 'blue c'])
  held.get('a')!.resolve('1')
  await responses[0]
  while (begun.length < 3) await delay(5)
  held.get('b')!.resolve('2')
  held.get('c')!.resolve('3')
  const bodies = (await Promise.all(responses)).map(({ body }) => body)
  assert.deepEqual(bodies, ['1', '2', '3'])
})

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openChatModel } from '../../../test/support/llm/chat-model.ts'
import type { ChatCall, ChatReply } from '../../../test/support/llm/chat-provider.ts'
import { estimateTokens } from './token-estimate.ts'
import { type NameGroup, unifyNames } from './unify-names.ts'

/** Unifies names with a model that responds with `reply`, which gets the groups of the request. */
async function unify(
  t: TestContext,
  groups: readonly NameGroup[],
  reply: (given: NameGroup[]) => ChatReply,
  contextTokens = 4096,
) {
  const respond = ({ messages }: ChatCall) => {
    return reply((JSON.parse(messages[1]!.content) as { groups: NameGroup[] }).groups)
  }
  const { calls, options } = await openChatModel(t, respond, { contextTokens })
  return { calls, ...(await unifyNames({ groups }, options)) }
}

function group(...names: string[]): NameGroup {
  return names.map((spelling) => ({ spelling, count: 1, said: `with ${spelling} there` }))
}

/** Replaces the second spelling of each group by the first. */
function useFirst(given: NameGroup[]): string {
  const changes = given.map(([to, from]) => ({ from: from!.spelling, to: to!.spelling }))
  return JSON.stringify({ changes })
}

test('each group is checked, in requests that fit into the context', async (t) => {
  const groups = Array.from({ length: 50 }, (_, i) => group(`Meyer${i}`, `Maier${i}`))
  const { changes, usage, calls } = await unify(t, groups, useFirst, 1024)
  assert.equal(changes.length, 50)
  assert.deepEqual(changes[49], { from: 'Maier49', to: 'Meyer49' })
  assert.ok(usage.requests >= 3)
  for (const { messages, max_tokens } of calls) {
    const promptTokens = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
    assert.ok(promptTokens + max_tokens <= 1024, `${promptTokens} + ${max_tokens}`)
  }
})

test('only changes to another spelling of the same group are applied', async (t) => {
  const groups = [group('Meyer', 'Maier', 'Meier'), group('Anna', 'Enna')]
  const odd = [
    ...[null, 7, { from: 'Meyer' }, { from: 'Meyer', to: 'Meyer' }, { from: 'Anna', to: 'Maier' }],
    { from: 'Meyer', to: 'Mayer' },
    { from: 'Maier', to: 'Meyer' },
    { from: 'Meyer', to: 'Maier' },
    { from: 'Meyer', to: 'Meier' },
    { from: 'Meier', to: 'Maier' },
  ]
  const { changes } = await unify(t, groups, () => JSON.stringify({ changes: odd }))
  assert.deepEqual(changes, [{ from: 'Maier', to: 'Meyer' }])
})

test('malformed answers are retried in halves, then skipped', async (t) => {
  const groups = [group('Meyer', 'Maier'), group('Anna', 'Enna'), group('Karl', 'Kurl')]
  const { changes, usage } = await unify(t, groups, (given) => {
    return given.length > 1 || given[0]![0]!.spelling === 'Anna' ? 'Sure!' : useFirst(given)
  })
  assert.deepEqual(
    changes.map(({ to }) => to),
    ['Meyer', 'Karl'],
  )
  assert.equal(usage.requests, 5)
})

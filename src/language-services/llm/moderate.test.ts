import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openChatModel } from '../../../test/support/llm/chat-model.ts'
import type { ChatCall, ChatReply } from '../../../test/support/llm/chat-provider.ts'
import { moderateSentences } from './moderate.ts'
import { estimateTokens } from './token-estimate.ts'

const categories = { threat: 'announces violence', slur: 'demeans people' }

/** Moderates with a model that responds with `reply`, which gets the sentences of the request. */
async function moderate(
  t: TestContext,
  sentences: readonly string[],
  reply: (given: string[]) => ChatReply,
  contextTokens = 4096,
) {
  const respond = ({ messages }: ChatCall) => {
    return reply((JSON.parse(messages[1]!.content) as { sentences: string[] }).sentences)
  }
  const { calls, options } = await openChatModel(t, respond, { contextTokens })
  return { calls, ...(await moderateSentences({ sentences, categories }, options)) }
}

/** Flags every sentence with the word "bad". */
function flagBad(given: string[]): string {
  const flags = given.flatMap((text, i) => {
    return text.includes('bad') ? [{ sentence: i + 1, category: 'threat' }] : []
  })
  return JSON.stringify({ flags })
}

test('flags of all requests are mapped to their sentences without duplicates', async (t) => {
  const sentences = Array.from({ length: 70 }, (_, i) => (i % 30 === 5 ? 'bad' : 'good'))
  const { flags, usage } = await moderate(t, sentences, flagBad)
  assert.deepEqual(
    flags.map(({ sentence }) => sentence),
    [5, 35, 65],
  )
  assert.equal(usage.requests, 3)
  const long = await moderate(t, ['fine', `${'very '.repeat(3000)}bad. bad.`], flagBad)
  assert.deepEqual(long.flags, [{ sentence: 1, category: 'threat' }])
  assert.ok(long.usage.requests > 2)
})

test('every request fits into a small context', async (t) => {
  const sentences = Array(400).fill('They talk about the budget of the next year.')
  const { calls } = await moderate(t, sentences, flagBad, 1024)
  for (const { messages, max_tokens } of calls) {
    const promptTokens = messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
    assert.ok(promptTokens + max_tokens <= 1024, `${promptTokens} + ${max_tokens}`)
  }
})

test('invalid flags are dropped, and malformed answers retried in halves', async (t) => {
  const odd = [
    ...[{ sentence: 0, category: 'slur' }, { sentence: 3, category: 'slur' }, null, 7],
    ...[
      { sentence: 1, category: 'weather' },
      { sentence: 2, category: 'slur' },
    ],
  ]
  const { flags } = await moderate(t, ['a', 'b'], () => JSON.stringify({ flags: odd }))
  assert.deepEqual(flags, [{ sentence: 1, category: 'slur' }])
  const single = await moderate(t, ['good', 'bad', 'bad'], (given) => {
    return given.length > 1 ? 'All is well.' : given[0] === 'good' ? 'Yes.' : flagBad(given)
  })
  assert.deepEqual(
    single.flags.map(({ sentence }) => sentence),
    [1, 2],
  )
  assert.equal(single.usage.requests, 5)
})

test('a bare list of flags is accepted', async (t) => {
  const list = [{ sentence: 1, category: 'threat' }]
  const { flags } = await moderate(t, ['bad', 'good'], () => JSON.stringify(list))
  assert.deepEqual(flags, [{ sentence: 0, category: 'threat' }])
})

test('a model that never returns flags fails', async (t) => {
  await assert.rejects(
    moderate(t, ['good', 'bad'], () => 'All is well.'),
    /returned no list of flags/,
  )
})

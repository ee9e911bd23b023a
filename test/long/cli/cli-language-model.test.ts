/** What a user of the command sees of a language model that is down, and when it is back. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { runSteno, SAMPLE } from '../../support/cli/run-steno.ts'
import { startChatProvider, textsToTranslate } from '../../support/llm/chat-provider.ts'
import { startServer } from '../../support/server/start-server.ts'

const asked = ['--summary', 'concise', '--ask', 'Who speaks?', '--ask', 'Why?', '--translate', 'de']

test('a failed add-on names its retry command, which works once the model is back', async (t) => {
  let isUp = false
  const provider = await startChatProvider((call) => {
    const [, user] = call.messages
    if (!isUp) return 404
    if (user!.content.startsWith('{')) {
      return JSON.stringify({ translations: textsToTranslate(call).map(() => 'Ich bin Lena.') })
    }
    return user!.content.includes('Summarize') ? 'Lena says her name.' : 'Lena.'
  })
  const speech = createFakeSpeechEngine('My name is Lena.')
  const llm = { STENO_LLM_URL: provider.url, STENO_LLM_MODEL: 'tiny' }
  const server = await startServer({ speech, env: llm })
  t.after(async () => {
    await server.close()
    provider.close()
  })
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const down = await runSteno(['transcribe', SAMPLE, ...asked], { env })
  assert.equal(down.code, 1)
  assert.match(down.stdout, /^My name is Lena\./)
  assert.match(down.stderr, /summarization failed: the language model refused the request with 404/)
  const commands = down.stderr
    .match(/(?<=again: steno )jobs retry .+/g)!
    .map((one) => one.split(' '))
  assert.deepEqual(commands.map((one) => one.at(-1)).sort(), [
    'audio_to_llm',
    'summarization',
    'translation',
  ])
  isUp = true
  for (const command of commands) {
    const { code, stdout } = await runSteno(command, { env })
    assert.deepEqual([code, JSON.parse(stdout).success], [0, true], stdout)
  }
  const up = await runSteno(['transcribe', SAMPLE, ...asked], { env })
  assert.equal(up.code, 0, up.stderr)
  assert.match(up.stdout, /Translation \(de\):\n(Ich bin Lena\.\n)+/)
  assert.match(up.stdout, /Summary:\nLena says her name\.\n/)
  assert.match(up.stdout, /Who speaks\?\nLena\.\n\nWhy\?\nLena\.\n/)
  assert.doesNotMatch(up.stderr, /retry/)
})

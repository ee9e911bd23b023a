import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

type Result = Record<string, { results: Record<string, unknown>[] | string }> & {
  transcription: { sentences: unknown[] }
}

test('native results return sentiment as an array and sentences with words', async () => {
  const speech = createFakeSpeechEngine('I love this. It is terrible')
  const server = await startServer({ speech, env: { STENO_ADDON_RESULTS: 'native' } })
  try {
    const json = {
      audio_url: await upload(server, createToneWav(2)),
      sentences: true,
      sentiment_analysis: true,
      moderation: true,
    }
    const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    await server.app.jobs.idle()
    const job = await call<{ result: Result }>(server, `/v2/pre-recorded/${body.id}`)
    const { sentiment_analysis, sentences, moderation, transcription } = job.body.result
    const sentiments = sentiment_analysis!.results as Record<string, unknown>[]
    assert.deepEqual(
      sentiments.map(({ sentiment }) => sentiment),
      ['positive', 'negative'],
    )
    const [first, second] = sentences!.results as { sentence: string; words: unknown[] }[]
    assert.deepEqual([first!.sentence, second!.sentence], ['I love this.', 'It is terrible'])
    assert.equal(first!.words.length, 3)
    assert.deepEqual(transcription.sentences, [sentences])
    assert.equal(typeof moderation!.results, 'string', 'what the API defines as text stays so')
  } finally {
    await server.close()
  }
})

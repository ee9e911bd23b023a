import assert from 'node:assert/strict'
import test from 'node:test'
import type { ServerCapabilities } from '../client/client.ts'
import { checkLanguage } from './check-language.ts'

const capabilities: ServerCapabilities = {
  recognition: { languages: ['en'] },
  models: { installed: [{ languages: ['en', 'ja'] }], available: [{ languages: ['de'] }] },
}

function check(language: string | undefined, reported = capabilities) {
  const params = language === undefined ? {} : { language_config: { languages: [language] } }
  return checkLanguage(params, async () => reported)
}

test('a language that no model of the server knows is rejected before the upload', async () => {
  const refusal = /^Error: Cannot transcribe the language xx: the server supports en$/
  await assert.rejects(check('xx'), refusal)
  for (const language of ['en', 'en-US', 'de', 'ja', 'jp', undefined]) await check(language)
})

test('what an older or unreachable server knows is left to the upload', async () => {
  await check('xx', {})
  const params = { language_config: { languages: ['xx'] } }
  await checkLanguage(params, () => Promise.reject(new Error('nobody answers')))
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { checkPage, openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false

type Listed = {
  items: { request_params: Record<string, unknown>; custom_metadata: object }[]
}

test('the form generated from the schemas covers all add-on parameters', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByText('Interview').click()
  await page.locator('summary', { hasText: 'Options' }).click()
  const refused = page.getByRole('alert')
  const metadata = page.getByLabel('Metadata, one name=value per line')
  await metadata.fill('team=red\nnonsense\n a = b=c \n =x')
  assert.equal(await refused.innerText(), '', 'the user may still be typing')
  await refused.getByText('Not sent, because').waitFor()
  assert.match(await refused.innerText(), /not name=value:\nnonsense\n=x$/)
  await page.locator('summary', { hasText: 'Everything else' }).click()

  const group = (name: string) => page.getByRole('group', { name, exact: true })
  await group('Numbers').getByLabel('Turn on').check()
  await group('Numbers').getByLabel('Written as').selectOption('words')
  await group('Tell speakers apart').getByLabel('Confidence of each speaker').check()
  await page.getByLabel('Redact personal data', { exact: true }).check()
  const types = group('Redact personal data').getByLabel('What is redacted')
  await types.selectOption(['EMAIL_ADDRESS', 'NAME'])
  const rows = group('Subtitles').getByLabel('Maximum rows per caption')
  assert.ok(await rows.isDisabled(), 'nothing is asked of an add-on that is not switched on')
  await group('Harmful language').getByLabel('Turn on').check()
  await checkPage(page, 'all-options')

  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await chosen).setFiles({
    name: 'a.wav',
    mimeType: 'audio/wav',
    buffer: Buffer.from(createToneWav(2)),
  })
  await page
    .getByRole('row', { name: /a\.wav/ })
    .getByText('Done')
    .waitFor()
  const { body } = await call<Listed>(server, '/v2/pre-recorded')
  const { request_params: params, custom_metadata } = body.items[0]!
  assert.deepEqual(custom_metadata, { team: 'red', a: 'b=c' })
  assert.equal(params.number_formatting, true)
  assert.deepEqual(params.number_formatting_config, { style: 'words' })
  const { number_of_speakers, speaker_confidence } = params.diarization_config as Record<
    string,
    unknown
  >
  assert.deepEqual([number_of_speakers, speaker_confidence], [2, true])
  const { entity_types } = params.pii_redaction_config as { entity_types: string[] }
  assert.deepEqual(entity_types.toSorted(), ['EMAIL_ADDRESS', 'NAME'])
  assert.equal(params.moderation, true)
  assert.ok(!params.subtitles)
  assert.deepEqual(problems, [])
})

import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from './arguments.ts'
import { completeSummary, readJobParams, readSubtitleFormats } from './job-params.ts'

const txt = { format: 'txt' } as const

test('options that are not given ask for nothing', async () => {
  assert.deepEqual(await readJobParams({}, txt), {})
})

test('each option asks for its add-on', async () => {
  const asked = { sentences: true, punctuation: true, entities: true, sentiment: true }
  assert.deepEqual(await readJobParams({ ...asked, language: 'en' }, txt), {
    language_config: { languages: ['en'] },
    sentences: true,
    punctuation_enhanced: true,
    named_entity_recognition: true,
    sentiment_analysis: true,
  })
})

test('a summary has a type, the general one where none is named', async () => {
  const type = async (...args: string[]) => {
    const [option] = completeSummary(args)
    const summary = option?.split('=')[1] ?? args[1]
    return (await readJobParams({ summary }, txt)).summarization_config
  }
  assert.deepEqual(await type('--summary', 'concise'), { type: 'concise' })
  assert.deepEqual(await type('--summary=bullet_points'), { type: 'bullet_points' })
  assert.deepEqual(await type('--summary', 'talk.mp3'), { type: 'general' })
  await assert.rejects(readJobParams({ summary: 'short' }, txt), UsageError)
})

test('only an option is completed, not a file behind the dashes nor another argument', () => {
  assert.deepEqual(completeSummary(['a.mp3', '--summary', '-o', 'x']), [
    ...['a.mp3', '--summary=general', '-o', 'x'],
  ])
  assert.deepEqual(completeSummary(['--', '--summary']), ['--', '--summary'])
  assert.deepEqual(completeSummary(['--summary', 'concise', 'a']), ['--summary', 'concise', 'a'])
})

test('subtitles are asked for by list, by format or both, each once', async () => {
  const config = async (subtitles: string | undefined, format: 'txt' | 'srt', style?: string) => {
    const params = await readJobParams({ subtitles, 'subtitle-style': style }, { format })
    return params.subtitles ? params.subtitles_config : undefined
  }
  assert.deepEqual(readSubtitleFormats('vtt, srt,vtt'), ['vtt', 'srt'])
  assert.deepEqual(await config('vtt', 'txt'), { formats: ['vtt'], style: 'default' })
  assert.deepEqual(await config('vtt', 'srt', 'compliance'), {
    formats: ['srt', 'vtt'],
    style: 'compliance',
  })
  assert.equal(await config(undefined, 'txt'), undefined)
  await assert.rejects(config(undefined, 'txt', 'compliance'), /--subtitle-style needs --subtitles/)
  await assert.rejects(config('srt', 'txt', 'x'), /--subtitle-style must be one of: default/)
  assert.throws(() => readSubtitleFormats('srt,ass'), /--subtitles must be one of: srt, vtt; not/)
})

test('redaction has types and a form, and the form needs the redaction', async () => {
  const config = async (redact: string, mode?: string) => {
    const params = await readJobParams({ redact, 'redact-mode': mode }, txt)
    return params.pii_redaction ? params.pii_redaction_config : undefined
  }
  assert.deepEqual(await config('pci'), { entity_types: ['PCI'], processed_text_type: 'MARKER' })
  assert.deepEqual(await config('all', 'MASK'), { processed_text_type: 'MASK' })
  await assert.rejects(config('pci', 'x'), /--redact-mode must be one of: marker, mask/)
  await assert.rejects(
    readJobParams({ 'redact-mode': 'mask' }, txt),
    /--redact-mode needs --redact/,
  )
})

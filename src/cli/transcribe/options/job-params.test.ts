import assert from 'node:assert/strict'
import test from 'node:test'
import { UsageError } from '../../terminal/arguments.ts'
import { completeOptions, readJobParams, readSubtitleFormats, readTargets } from './job-params.ts'

const txt = { format: 'txt' } as const

test('no options yield no parameters', async () => {
  assert.deepEqual(await readJobParams({}, txt), {})
})

test('each option enables its add-on', async () => {
  const requested = { sentences: true, punctuation: true, entities: true, sentiment: true }
  assert.deepEqual(await readJobParams({ ...requested, language: 'en' }, txt), {
    language_config: { languages: ['en'] },
    sentences: true,
    punctuation_enhanced: true,
    named_entity_recognition: true,
    sentiment_analysis: true,
  })
})

test('--summary takes a type and defaults to general', async () => {
  const type = async (...args: string[]) => {
    const [option] = completeOptions(args)
    const summary = option?.split('=')[1] ?? args[1]
    return (await readJobParams({ summary }, txt)).summarization_config
  }
  assert.deepEqual(await type('--summary', 'concise'), { type: 'concise' })
  assert.deepEqual(await type('--summary=bullet_points'), { type: 'bullet_points' })
  assert.deepEqual(await type('--summary', 'talk.mp3'), { type: 'general' })
  await assert.rejects(readJobParams({ summary: 'short' }, txt), UsageError)
})

test('only options are completed, not other arguments or those after --', () => {
  assert.deepEqual(completeOptions(['a.mp3', '--summary', '-o', 'x']), [
    ...['a.mp3', '--summary=general', '-o', 'x'],
  ])
  assert.deepEqual(completeOptions(['--', '--summary']), ['--', '--summary'])
  assert.deepEqual(completeOptions(['--summary', 'concise', 'a']), ['--summary', 'concise', 'a'])
})

test('languages of translations are codes, because they name files', () => {
  assert.deepEqual(readTargets(['de, fr', 'de', 'zh']), ['de', 'fr', 'zh'])
  for (const wrong of ['', 'de,', '../de', 'de fr', '.']) {
    assert.throws(() => readTargets([wrong]), /^UsageError: --translate must list language codes/)
  }
})

test('subtitles are requested by list, by format or both, without duplicates', async () => {
  const config = async (list: string | undefined, format: 'txt' | 'srt', style?: string) => {
    const subtitles = list === undefined ? undefined : [list]
    const params = await readJobParams({ subtitles, 'subtitle-style': style }, { format })
    return params.subtitles ? params.subtitles_config : undefined
  }
  assert.deepEqual(readSubtitleFormats(['vtt, srt,vtt']), ['vtt', 'srt'])
  assert.deepEqual(readSubtitleFormats(['vtt', 'srt', 'vtt']), ['vtt', 'srt'])
  assert.deepEqual(await config('vtt', 'txt'), {
    formats: ['vtt'],
    style: 'default',
    speakers: true,
  })
  assert.deepEqual(await config('vtt', 'srt', 'compliance'), {
    formats: ['srt', 'vtt'],
    style: 'compliance',
    speakers: true,
  })
  assert.equal(await config(undefined, 'txt'), undefined)
  await assert.rejects(config(undefined, 'txt', 'compliance'), /--subtitle-style needs --subtitles/)
  await assert.rejects(config('srt', 'txt', 'x'), /--subtitle-style must be one of: default/)
  assert.throws(() => readSubtitleFormats(['srt,ass']), /--subtitles must be one of: srt, vtt; not/)
})

test('options set the style of numbers, fillers and profanity', async () => {
  const values = { numbers: 'digits', 'no-fillers': true, 'mask-profanity': true }
  assert.deepEqual(await readJobParams(values, txt), {
    number_formatting: true,
    number_formatting_config: { style: 'digits' },
    filler_removal: true,
    profanity_filter: true,
  })
  await assert.rejects(readJobParams({ numbers: 'roman' }, txt), /--numbers must be one of: digits/)
})

test('--redact takes types, and --redact-mode requires it', async () => {
  const config = async (list: string, mode?: string, ...lists: string[]) => {
    const redact = [list, ...lists]
    const params = await readJobParams({ redact, 'redact-mode': mode }, txt)
    return params.pii_redaction ? params.pii_redaction_config : undefined
  }
  assert.deepEqual(await config('pci'), { entity_types: ['PCI'], processed_text_type: 'MARKER' })
  assert.deepEqual(await config('all', 'MASK'), { processed_text_type: 'MASK' })
  assert.deepEqual(await config('pci', 'mask', 'phones,pci', 'gdpr'), {
    entity_types: ['PCI', 'PHONE_NUMBER', 'GDPR'],
    processed_text_type: 'MASK',
  })
  await assert.rejects(config('pci', 'x'), /--redact-mode must be one of: marker, mask/)
  await assert.rejects(
    readJobParams({ 'redact-mode': 'mask' }, txt),
    /--redact-mode needs --redact/,
  )
})

test('--speakers takes auto, an exact count or a range', async () => {
  const params = (speakers: string) => readJobParams({ speakers }, txt)
  assert.deepEqual(await params('auto'), { diarization: true })
  const exact = { diarization: true, diarization_config: { number_of_speakers: 2 } }
  assert.deepEqual(await params('2'), exact)
  const range = { min_speakers: 2, max_speakers: 10 }
  assert.deepEqual(await params('2-10'), { diarization: true, diarization_config: range })
  for (const wrong of ['0', '4-2', '-1', '2.5', 'two', '2-']) {
    await assert.rejects(params(wrong), UsageError, wrong)
  }
  assert.deepEqual(completeOptions(['--speakers', 'talk.wav']), ['--speakers=auto', 'talk.wav'])
  assert.deepEqual(completeOptions(['--speakers', '2-4', 'a']), ['--speakers', '2-4', 'a'])
})

test('--channels takes mix or separate', async () => {
  assert.deepEqual(await readJobParams({ channels: 'mix' }, txt), { channel_mode: 'mix' })
  await assert.rejects(readJobParams({ channels: 'both' }, txt), UsageError)
})

test('--chapters enables chapters', async () => {
  assert.deepEqual(await readJobParams({ chapters: true }, txt), { chapters: true })
})

test('--translate and --ask enable their add-ons', async () => {
  const values = { translate: ['de,fr', 'de'], ask: ['Who called?', 'Why?'] }
  assert.deepEqual(await readJobParams(values, txt), {
    translation: true,
    translation_config: { target_languages: ['de', 'fr'] },
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who called?', 'Why?'] },
  })
  await assert.rejects(readJobParams({ translate: ['de,'] }, txt), UsageError)
  await assert.rejects(readJobParams({ ask: [' '] }, txt), UsageError)
})

import { open } from 'node:fs/promises'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { AppError } from '../../../errors.ts'
import { readCatalog } from '../../../models/catalog.ts'
import { createFairSemaphore } from '../../../workers/fair-semaphore.ts'
import type { FinalResult, LiveUtterance } from '../../live-engine/live-engine.ts'
import { wordsWithin } from '../../live-engine/recognize-utterance.ts'
import { shiftWords } from '../../recognition/word-times/shift-words.ts'
import type { Batch, IdentifyTask, LanguageSpan, RecognizedSegment } from '../../speech-engine.ts'
import type { LanguageProbability, RecognizerInfo, Segment } from '../recognizer.ts'
import { languageCodeOf } from './language-names.ts'
import { parseProviderResponse, type RemoteResponse } from './provider-response.ts'
import { REMOTE } from './remote-id.ts'
import { type ResponseFormat, responseFormats, writeMultipartForm } from './request-form.ts'

/** Sends forms to the server: `ServiceClient` of the module `net`. */
export type FormClient = {
  post(request: {
    path: string
    contentType: string
    body: Uint8Array
    signal: AbortSignal
    timeout: number
    tries: number
  }): Promise<{ status: number; text: string } | { problem: string }>
  close(): Promise<void>
}

/** A server to recognize with. */
export type RemoteOptions = {
  /** Closed with the recognizer. */
  client: FormClient
  model: string
  /** Languages that it recognizes; empty = every language. */
  languages: readonly string[]
  /** Seconds of one request. */
  timeout: number
  /** Maximum number of concurrent requests. */
  concurrency: number
  /** The models of the API that prefer it to those of this machine. */
  preferredBy: readonly string[]
  /** Never part of a message. */
  apiKey: string | undefined
}

/** Kind of work; it selects the timeout and the number of tries, which are lower for live work. */
export type RemoteUse = 'batch' | 'live'

export type RemoteCall = { signal: AbortSignal; use: RemoteUse }

/** The remote engine. Rejects with `engine_failed` or `remote_engine_refused`. */
export type RemoteRecognizer = {
  /** Describes the engine as known now: its responses show whether it measures word times. */
  describe(): RecognizerInfo
  recognize(batch: Batch, call: RemoteCall): Promise<RecognizedSegment[]>
  recognizeFinal(
    utterance: LiveUtterance,
    settings: Pick<Batch, 'language' | 'languages' | 'vocabulary'>,
    call: RemoteCall,
  ): Promise<FinalResult>
  identify(task: IdentifyTask, call: RemoteCall): Promise<LanguageSpan[][]>
  close(): Promise<void>
}

const TRANSCRIPTIONS = '/audio/transcriptions'
/** As long as the window of Whisper, which most servers run. */
const MAX_SECONDS = 30
/** Servers refuse shorter audio; silence is added to it. */
const MIN_SAMPLES = SAMPLE_RATE / 2
const TRIES: Record<RemoteUse, number> = { batch: 4, live: 2 }
/** Seconds that one request of a live session may take: a person waits for the text. */
const LIVE_TIMEOUT = 15
/** The middle of a longer segment suffices to identify its language; in seconds. */
const IDENTIFIED_SECONDS = 10
/** The confidence of a language if the server states none. */
const DEFAULT_PROBABILITY = 0.9
/** A prompt of Whisper has room for 224 tokens. */
const MAX_PROMPT_CHARS = 600

/** What the server supports, as learned from its responses; undefined = not observed yet. */
type ServerFeatures = {
  form: ResponseFormat
  wordTimes: boolean | undefined
  languages: boolean | undefined
}

type RemoteRequest = {
  path: string
  segment: Segment
  language: string | undefined
  vocabulary: readonly string[]
}

/**
 * Creates the recognizer of a server. It runs in this process, since it only sends and receives.
 */
export function createRemoteRecognizer(options: RemoteOptions): RemoteRecognizer {
  const languages = options.languages.length > 0 ? options.languages : everyLanguage()
  const { concurrency: total, model } = options
  const modelInfo = { languages, model }
  const enter = createFairSemaphore({ total, perAccount: total, maxWaiting: 0 })
  const features: ServerFeatures = { form: 'words', wordTimes: undefined, languages: undefined }

  async function transcribe(
    request: RemoteRequest,
    { signal, use }: RemoteCall,
  ): Promise<RemoteResponse> {
    const { start, end } = request.segment
    const audio = await readAudio(request.path, request.segment)
    const seconds = (end - start) / SAMPLE_RATE
    const prompt = promptOf(request.vocabulary)
    const send = (sentPrompt: string) => {
      const work = () =>
        postAudio(options, { ...request, audio, prompt: sentPrompt, signal, use, features })
      return enter(work, { account: use, signal })
    }
    const first = readOrFail(await send(prompt), seconds)
    const response = isPromptEcho(first, prompt) ? readOrFail(await send(''), seconds) : first
    learnFeatures(features, response)
    return response
  }

  return {
    describe: () => describeServer(options, languages, features),
    recognize({ segments, path, ...settings }, call) {
      return Promise.all(
        segments.map(async (segment) => {
          const response = await transcribe({ path, segment, ...settings }, call)
          const words = shiftWords(response.words, segment.start / SAMPLE_RATE)
          const uncovered = words.length > 0 ? 0 : spokenSeconds(segment)
          return { segment, words, uncovered, ...describeResponse(response, settings, modelInfo) }
        }),
      )
    },
    async recognizeFinal({ path, segment, context = segment }, settings, call) {
      const response = await transcribe({ path, segment: context, ...settings }, call)
      const words = shiftWords(response.words, context.start / SAMPLE_RATE)
      const within = wordsWithin(words, { segment, context })
      return { ...within, ...describeResponse(response, settings, modelInfo) }
    },
    identify({ path, segments, languages: allowed }, call) {
      return Promise.all(
        segments.map(async (segment) => {
          const request = { path, segment: middleOf(segment), language: undefined, vocabulary: [] }
          return toLanguageSpans(segment, await transcribe(request, call), {
            allowed,
            use: call.use,
          })
        }),
      )
    },
    close: () => options.client.close(),
  }
}

/** Describes the recognizer by what the server has shown of itself so far. */
function describeServer(
  { model, preferredBy }: RemoteOptions,
  languages: readonly string[],
  features: ServerFeatures,
): ReturnType<RemoteRecognizer['describe']> {
  return {
    id: REMOTE,
    revision: model,
    preferredBy,
    capabilities: {
      languages,
      wordTimes: features.wordTimes ?? true,
      maxSeconds: MAX_SECONDS,
      vocabulary: true,
      identifiesLanguages: features.languages ?? true,
    },
    // An operator who configures a server expects its use.
    estimate: { wer: 0, realTimeFactor: 0 },
  }
}

/** Returns the language, the warnings and the model to report for a response. */
function describeResponse(
  response: RemoteResponse,
  settings: Pick<Batch, 'language' | 'languages'>,
  { languages, model }: { languages: readonly string[]; model: string },
) {
  const allowed = settings.languages.length > 0 ? settings.languages : languages
  const reported = response.language && languageCodeOf(response.language, allowed)
  const language = settings.language ?? reported ?? allowed[0]!
  const isEstimated = response.hasWordTimes === false
  const warnings = isEstimated ? [`${REMOTE} does not measure word times: they are estimates`] : []
  return { language, warnings, model: `${REMOTE}@${model}` }
}

type SegmentLanguageOptions = { allowed: readonly string[]; use: RemoteUse }

/** Returns a segment with the language that the server named for it. */
function toLanguageSpans(
  segment: Segment,
  { language, languageProbability }: RemoteResponse,
  { allowed, use }: SegmentLanguageOptions,
): LanguageSpan[] {
  if (language === undefined && use === 'batch') {
    // The next attempt of the job runs without identification and adds a warning.
    const detail = `the ${REMOTE} engine does not name the language of its texts`
    throw new AppError('engine_failed', detail, { isTransient: true })
  }
  const code = language && languageCodeOf(language, allowed)
  const probability = languageProbability ?? DEFAULT_PROBABILITY
  const probabilities: LanguageProbability[] = code ? [{ language: code, probability }] : []
  const { start, end } = segment
  return [{ start, end, seconds: spokenSeconds(segment), probabilities }]
}

/** The languages of the most capable open model. */
function everyLanguage(): readonly string[] {
  return readCatalog().reduce((max: readonly string[], { languages }) => {
    return languages.length > max.length ? languages : max
  }, [])
}

type Post = RemoteRequest &
  RemoteCall & { audio: Uint8Array; prompt: string; features: ServerFeatures }

/**
 * Sends one request. A server that refuses the form of the response is asked for a simpler one, now
 * and from then on.
 */
async function postAudio(
  { client, model, timeout, apiKey }: RemoteOptions,
  { audio, language, prompt, signal, use, features }: Post,
): Promise<string> {
  const limit = use === 'live' ? Math.min(timeout, LIVE_TIMEOUT) : timeout
  for (;;) {
    const { form } = features
    const body = writeMultipartForm({ audio, model, language, prompt, responseFormat: form })
    const request = { ...body, signal, timeout: limit, tries: TRIES[use] }
    const response = await client.post({ path: TRANSCRIPTIONS, ...request })
    if ('problem' in response) throw requestFailed(response.problem)
    const { status, text } = response
    if (status < 300) return text
    const simpler = responseFormats[responseFormats.indexOf(form) + 1]
    const isAboutForm = /response_format|timestamp_granularities|verbose_json/.test(text)
    if (!simpler || !isAboutForm || status >= 500) throw requestRefused(status, { text, apiKey })
    // Another request may have found out meanwhile.
    if (features.form === form) features.form = simpler
  }
}

function requestFailed(problem: string): AppError {
  return new AppError('engine_failed', `the ${REMOTE} engine: ${problem}`, { isTransient: true })
}

/**
 * Remedies by status. They replace the server's message, which may contain a part of the API key.
 */
const remedies: Readonly<Record<number, string>> = {
  401: 'see STENO_REMOTE_ASR_API_KEY',
  403: 'see STENO_REMOTE_ASR_API_KEY',
  404: 'see STENO_REMOTE_ASR_URL and STENO_REMOTE_ASR_MODEL',
}

function requestRefused(
  status: number,
  { text, apiKey }: { text: string; apiKey: string | undefined },
): AppError {
  const explanation = remedies[status] ?? messageIn(text)
  const detail = apiKey === undefined ? explanation : explanation.replaceAll(apiKey, '…')
  return new AppError(
    'remote_engine_refused',
    `it responds with ${status}${detail && `: ${detail}`}`,
  )
}

/** Returns the message of an error in the API's form; empty when it has no message. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message.slice(0, 200) : ''
  } catch {
    return ''
  }
}

function readOrFail(text: string, seconds: number): RemoteResponse {
  const response = parseProviderResponse(text, seconds)
  if (!response) throw requestFailed('its answer is not a transcription')
  return response
}

function learnFeatures(features: ServerFeatures, { language, hasWordTimes }: RemoteResponse): void {
  if (hasWordTimes === undefined) return // Silence says nothing.
  features.wordTimes = hasWordTimes
  features.languages = language !== undefined
}

function promptOf(vocabulary: readonly string[]): string {
  let prompt = ''
  for (const entry of vocabulary) {
    const longer = prompt === '' ? entry : `${prompt}, ${entry}`
    if (longer.length > MAX_PROMPT_CHARS) break
    prompt = longer
  }
  return prompt.replaceAll(/[\r\n]+/g, ' ')
}

/** A model that finds no speech may repeat its prompt: at least three words, and no others. */
function isPromptEcho({ words }: RemoteResponse, prompt: string): boolean {
  if (prompt === '' || words.length < 3) return false
  const text = comparableText(words.map((word) => word.text).join(' '))
  return comparableText(prompt).includes(text)
}

function comparableText(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Reads the 16-bit samples of a segment; adds silence after very short ones. */
async function readAudio(path: string, { start, end }: Segment): Promise<Uint8Array> {
  const audio = Buffer.alloc(Math.max(MIN_SAMPLES, end - start) * 2)
  const length = (end - start) * 2
  try {
    await using file = await open(path)
    let read = 0
    while (read < length) {
      const { bytesRead } = await file.read(audio, read, length - read, start * 2 + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    if (read === length) return audio
  } catch (cause) {
    throw new AppError('storage_unreadable', 'the decoded audio of the job', { cause })
  }
  throw new AppError('storage_unreadable', 'the decoded audio is too short')
}

function middleOf(segment: Segment): Segment {
  const max = IDENTIFIED_SECONDS * SAMPLE_RATE
  const start = segment.start + Math.max(0, Math.floor((segment.end - segment.start - max) / 2))
  return { start, end: Math.min(segment.end, start + max) }
}

function spokenSeconds({ start, end, pauses = [] }: Segment): number {
  const silent = pauses.reduce((sum, pause) => sum + pause.end - pause.start, 0)
  return (end - start - silent) / SAMPLE_RATE
}

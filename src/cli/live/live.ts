import { writeFile } from 'node:fs/promises'
import type { ApiLiveJob, ApiLiveResult } from '../client/api-types.ts'
import { connectServer, type ServerConnection } from '../client/server-connection.ts'
import { readServer, serverHelp } from '../client/server-url.ts'
import { createProgressDisplay, formatSeconds } from '../terminal/progress-display.ts'
import { sanitize, sanitizeLines } from '../terminal/sanitize.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { describeFailures, describeLeftOut, formatAddOns } from '../transcribe/add-on-text.ts'
import { formatResult, formats, refuseTerminal } from '../transcribe/formats.ts'
import { explainWriting, prepareOutputs, refuseOverwriting } from '../transcribe/output-files.ts'
import { stageName } from '../transcribe/stage-names.ts'
import { bytesPerSecond, type LiveFormat, type LiveMessage } from './live-api-types.ts'
import { type LiveAudioSource, openLiveAudio } from './live-audio.ts'
import { type CloseFrame, LiveConnection } from './live-connection.ts'
import { createLatencyWatch, describeLatency, type Latencies } from './live-latency.ts'
import { type LiveOptions, readLiveOptions } from './live-options.ts'
import { createLiveScreen, type LiveScreen } from './live-screen.ts'

const help = `Usage: steno live FILE|-|--mic [options]

Transcribes live audio: from the microphone, from standard input (WAV, or raw 16-bit samples) or from
a file, played at real-time pace. Without a running server it starts a private one and removes it at
the end. Ctrl-C ends the recording and waits for its last words; a second Ctrl-C exits at once.

  --mic            record with arecord, parec, pw-record, rec or ffmpeg, whichever is installed
  --fast           send a file as fast as the server accepts it
  --language CODE  the spoken language, such as en; detected by default
  --translate LIST also print translations into these languages, such as de,fr; needs a language
                   model or Apertium (STENO_APERTIUM)
  --summary[=TYPE] a summary at the end: general (default), bullet_points or concise
  --ask TEXT       an answer to this prompt at the end; may be repeated; needs a language model
  --endpointing S  seconds of silence that end an utterance, 0.01 to 10; default 0.05
  --threshold P    probability above which audio counts as speech, 0 to 1; default 0.6
  --no-partials    print final text only
  --rate N         sample rate of raw samples on standard input; default 16000
  --channels N     number of interleaved channels of raw samples on standard input; default 1
  --format FORMAT  ${formats.join(', ')}. All but txt are written at the end;
                   default: the format in the name of the output (talk.srt), or else txt
  -o, --output     write the result to this file
${serverHelp}
Final text goes to stdout; a terminal also shows times, and below it the text that may still change.
At the end, latencies go to stderr. The exit code is 1 if an add-on failed, 130 if a file was interrupted.

  steno live --mic
  steno live talk.mp3
  arecord -t raw -f S16_LE -r 16000 | steno live - --format srt -o talk.srt
`

/**
 * `steno live`: a client of live sessions that starts a private server when no other is available.
 */
export const liveCommand: Command = {
  help,
  async run(args, terminal) {
    const options = readLiveOptions(args)
    const server = readServer(options.server, terminal)
    if (options.output === undefined) refuseTerminal(options.format, terminal.stdout)
    if (options.source.kind === 'file') refuseOverwriting(options.source.path, options.output)
    await prepareOutputs([options.output])
    const progress = createProgressDisplay(terminal.stderr)
    terminal.signal.addEventListener('abort', progress.clear, { once: true })
    if (options.source.kind === 'file') progress.show(options.name, { stage: stageName('decode') })
    await using audio = await openLiveAudio(options.source, terminal)
    progress.end(options.name)
    await using connected = await connectServer(server, { terminal, progress, live: true })
    terminal.signal.throwIfAborted()
    return await streamAudio({ options, audio, server: connected, terminal })
  },
}

type LiveStreamOptions = {
  options: LiveOptions
  audio: LiveAudioSource
  server: ServerConnection
  terminal: Terminal
}

async function streamAudio({
  options,
  audio,
  server,
  terminal,
}: LiveStreamOptions): Promise<number> {
  const { format, output, name } = options
  const showsFinals = output !== undefined && terminal.stdout.isTTY === true
  const writesFinals = showsFinals || (format === 'txt' && output === undefined)
  const screen = createLiveScreen(terminal, { channels: audio.format.channels, writesFinals })
  const session = await server.client.createLive(paramsOf(options, audio.format))
  const watch = createLatencyWatch(bytesPerSecond(audio.format))
  const collector = createMessageCollector(screen)
  const live = LiveConnection.connect(session.url, {
    onMessage(message, at) {
      watch.received(message, at)
      collector.add(message)
    },
    onLost: (code) => screen.printLine(`connection lost (${code}), reconnecting`),
  })
  const stop = AbortSignal.any([terminal.signal, abortedBy(live.ended)])
  const printStopping = () => {
    screen.printLine('Stopping; waiting for the last words. Press Ctrl-C again to quit at once.')
  }
  terminal.signal.addEventListener('abort', printStopping, { once: true })

  let sent = 0
  try {
    for await (const chunk of audio.chunks(stop)) {
      if (stop.aborted) break
      sent += chunk.length
      watch.sent(sent, performance.now())
      await live.send(chunk)
    }
    live.stop()
    await live.ended
  } finally {
    terminal.signal.removeEventListener('abort', printStopping)
    live.close()
    screen.clear()
  }
  const end = await live.ended
  const result = await collector.result(async () => {
    return end.code === 1006 ? null : (await server.uninterrupted.findLive(session.id)).result
  })
  const problem = problemOf(end)
  if (problem) screen.printLine(`${sanitize(name)}: ${problem}`)
  const isComplete =
    result !== undefined && (await writeResult(result, { options, screen, terminal }))
  const isRealTime = options.source.kind !== 'file' || !options.source.isFast
  terminal.stderr.write(
    summary(watch.latencies, { seconds: sent / bytesPerSecond(audio.format), isRealTime }),
  )
  if (problem || !isComplete) return 1
  // Ctrl-C is the normal end of a microphone or stream; an interrupted file is incomplete.
  return terminal.signal.aborted && options.source.kind === 'file' ? 130 : 0
}

/**
 * Writes the result to its destination, or to stdout if its file cannot be written; returns whether
 * it has arrived there and has no failed add-on. Final text is already on stdout, so only the
 * add-ons follow there.
 */
async function writeResult(
  result: ApiLiveResult,
  {
    options,
    screen,
    terminal,
  }: Pick<LiveStreamOptions, 'options' | 'terminal'> & { screen: LiveScreen },
): Promise<boolean> {
  const { name, format, output } = options
  let isWritten = true
  if (output !== undefined) {
    const text = formatResult(result, format)
    try {
      await writeFile(output, text)
      screen.printLine(`${sanitize(name)}: written to ${sanitize(output)}`)
    } catch (error) {
      isWritten = false
      screen.printLine(`${sanitize(name)}: ${explainWriting(output, error)}`)
      // Prints the text instead, so that the recording is not lost.
      terminal.stdout.write(text)
    }
  } else if (format !== 'txt') {
    terminal.stdout.write(formatResult(result, format))
  } else {
    // The text and its translations are on stdout already.
    const { translation: _, ...addOns } = result
    terminal.stdout.write(sanitizeLines(formatAddOns(addOns)))
  }
  const leftOut = describeLeftOut(result, { format, isTranslated: false })
  if (leftOut !== undefined) screen.printLine(`${sanitize(name)}: ${leftOut}`)
  const failures = describeFailures(result)
  for (const failure of failures) screen.printLine(`${sanitize(name)}: ${failure}`)
  for (const warning of result.metadata.warnings ?? []) {
    screen.printLine(`${sanitize(name)}: warning: ${warning}`)
  }
  return isWritten && failures.length === 0
}

function paramsOf(options: LiveOptions, format: LiveFormat): Record<string, unknown> {
  const { language, translation, postProcessing, endpointing, threshold, partials } = options
  return {
    ...format,
    ...(language === undefined ? {} : { language_config: { languages: [language] } }),
    ...(endpointing === undefined ? {} : { endpointing }),
    ...(threshold === undefined ? {} : { pre_processing: { speech_threshold: threshold } }),
    realtime_processing: translation,
    post_processing: postProcessing,
    messages_config: { receive_partial_transcripts: partials },
  }
}

/** Creates a collector of the session's messages, which shows transcripts and keeps the result. */
function createMessageCollector(screen: LiveScreen) {
  const finals = new Set<string>()
  let last: ApiLiveResult | undefined

  function add(message: LiveMessage): void {
    switch (message.type) {
      case 'transcript':
        // After a lost connection, a final may arrive again.
        if (finals.has(message.data.id)) return
        if (message.data.is_final) finals.add(message.data.id)
        screen.show(message.data)
        return
      case 'translation':
        if (message.data) screen.translated(message.data)
        else if (message.error) screen.printLine(`translation: ${message.error.message}`)
        return
      case 'post_final_transcript':
        last = message.data
        return
      case 'error':
        screen.printLine(message.data.message)
        return
      case 'audio_chunk':
        if (!message.acknowledged) screen.printLine(`audio refused: ${message.error?.message}`)
    }
  }

  return {
    add,
    /**
     * Returns the result. If the connection was lost before it arrived, `find` fetches it, and the
     * missing finals are shown.
     */
    async result(find: () => Promise<ApiLiveJob['result']>): Promise<ApiLiveResult | undefined> {
      if (last) return last
      const result = await find()
      if (!result) return undefined
      const { messages = [], ...withoutMessages } = result
      for (const text of messages) {
        const message = JSON.parse(text) as LiveMessage
        if (message.type === 'transcript' && message.data.is_final) add(message)
      }
      return withoutMessages
    },
  }
}

function abortedBy(ended: Promise<CloseFrame>): AbortSignal {
  const controller = new AbortController()
  void ended.then(() => controller.abort())
  return controller.signal
}

/** Close codes that end a session early. */
const problems: Record<number, string> = {
  1006: 'the server can no longer be reached',
  1007: 'a message is not one of a Steno server; does a proxy answer in its place?',
  4408: 'the session reached its time limit; audio after it was not transcribed',
  4409: 'another client has taken the session over',
  4500: 'the session failed',
}

/**
 * Returns why the session did not end normally; undefined when it did. 4410 means that it ended
 * while the client was disconnected.
 */
function problemOf({ code, reason }: CloseFrame): string | undefined {
  if (code === 1000 || code === 4410) return undefined
  const text = problems[code] ?? `the server closed the session (${code})`
  return reason === '' ? text : `${text}: ${reason}`
}

/** Formats the summary of a session: its length and latencies. */
function summary(
  { acks, firstPartials, finals }: Latencies,
  { seconds, isRealTime }: { seconds: number; isRealTime: boolean },
): string {
  const rows: [string, string | undefined][] = [
    ['sound', formatSeconds(seconds)],
    ['first partial after speech starts', describeLatency(firstPartials, [0.5, 0.95])],
    ['final after speech ends', describeLatency(finals, [0.5, 0.95])],
    ['audio stored', describeLatency(acks, [0.5, 0.99])],
  ]
  // The latencies of a file that was sent without pacing do not show how long a speaker would wait.
  const shown = isRealTime ? rows : rows.slice(0, 1)
  return shown.flatMap(([label, text]) => (text ? `${label}: ${text}\n` : [])).join('')
}

/** Live recognition with the real models, in its processes. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { wordErrors } from '../../../test/support/asr/word-errors.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { decodeMedia } from '../../audio/decode-media.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { readConfig } from '../../config/config.ts'
import { createLog } from '../../observability/log.ts'
import type { Word } from '../../transcript/transcript.ts'
import { createSpeechEngine } from '../create-speech-engine.ts'
import type { PcmFile, SpeechEngine } from '../speech-engine.ts'
import type { LiveAudio, LiveEngine } from './live-engine.ts'

const BYTES_PER_SECOND = 2 * SAMPLE_RATE
const SECONDS_OF_NOISE = 3.5
const signal = new AbortController().signal
const finals = { model: 'moonshine-base', language: 'en', languages: [], vocabulary: [], signal }
const partials = { ...finals, model: 'moonshine-tiny' }
const speech =
  'And so my fellow Americans ask not what your country can do for you ask what you can do for your country'

let folder: string
let engine: SpeechEngine
let live: LiveEngine
let jfk: PcmFile

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steno-live-'))
  engine = createSpeechEngine({
    folder: readConfig({}).models.folder,
    workers: 1,
    log: createLog('silent'),
    live: { partialInterval: 0.3 },
  })
  live = engine.live!
  const fixture = new URL('../../../test/fixtures/jfk.flac', import.meta.url).pathname
  const { channels } = await decodeMedia(fixture, join(folder, 'jfk'), { signal, maxSeconds: 60 })
  jfk = channels[0]!
  await engine.checkReady({ signal })
})

after(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

function seconds(start: number, end: number) {
  return { start: start * SAMPLE_RATE, end: end * SAMPLE_RATE }
}

function textOf(words: readonly Word[]): string {
  return words.map((word) => word.text).join(' ')
}

/** Returns the ids of the worker processes of this test that have a role. */
function workersWith(role: string): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    return parent === process.pid && line.trimEnd().endsWith(` ${role}`) ? [pid!] : []
  })
}

function signalWorkers(role: string, signal: NodeJS.Signals): void {
  for (const pid of workersWith(role)) process.kill(pid, signal)
}

test('a final has the words of its utterance, at their times in the session', async () => {
  const utterance = { path: jfk.path, segment: seconds(3, 11) }
  const { words, model, language } = await live.recognizeFinal(utterance, finals)
  assert.deepEqual([model, language], ['moonshine-base@0.1.12', 'en'])
  const wanted = speech.slice(speech.indexOf('ask not'))
  assert.equal(wordErrors(wanted, textOf(words)).errors, 0, textOf(words))
  for (const [i, { start, end }] of words.entries()) {
    assert.ok(start >= (words[i - 1]?.end ?? 3) && end > start && end <= 11)
  }
  assert.ok(Math.abs(words[0]!.start - 3.4) < 0.3, `ask starts at ${words[0]!.start}`)
})

test('low-priority work does not count as load', async () => {
  const utterance = { path: jfk.path, segment: seconds(3, 6) }
  const recognize = {
    final: (how: { isLowPriority?: boolean }) =>
      live.recognizeFinal(utterance, { ...finals, ...how }),
    partial: (how: { isLowPriority?: boolean }) => {
      return live.recognizePartial(utterance, { ...partials, ...how })
    },
  }
  for (const [kind, run] of Object.entries(recognize)) {
    const before = live.load
    await run({ isLowPriority: true })
    assert.ok(live.load <= before, kind)
    const between = live.load
    await run({})
    assert.ok(live.load > between, kind)
  }
})

test('an unclear final is searched by beams while the machine is not busy with other finals', async () => {
  const random = createRandom(5)
  const clear = await readFile(jfk.path)
  const noisy = Buffer.alloc(SECONDS_OF_NOISE * BYTES_PER_SECOND)
  for (let at = 0; at < noisy.length; at += 2) {
    const sample = clear.readInt16LE(7 * BYTES_PER_SECOND + at) + 12_000 * (random() - 0.5)
    noisy.writeInt16LE(Math.max(-32_768, Math.min(32_767, Math.round(sample))), at)
  }
  const path = join(folder, 'noisy')
  await writeFile(path, noisy)
  const utterance = { path, segment: seconds(0, SECONDS_OF_NOISE) }
  while (live.load > 0.4) await delay(20)
  signalWorkers('live', 'SIGSTOP')
  const first = live.recognizeFinal(utterance, finals)
  const second = live.recognizeFinal(utterance, finals)
  const stop = new AbortController()
  const others = Array.from({ length: 20 }, () => {
    return live.recognizeFinal(utterance, { ...finals, signal: stop.signal })
  })
  while (live.load < 1) await delay(20)
  stop.abort()
  await Promise.allSettled(others)
  signalWorkers('live', 'SIGCONT')
  const [searched, greedy] = await Promise.all([first, second])
  assert.notDeepEqual(searched.words, greedy.words)
  const afterLoad = await live.recognizeFinal(utterance, finals)
  assert.deepEqual(afterLoad.words, greedy.words)
})

test('a low-priority partial lets one of another session pass', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 11) }
  const undisturbed = await live.recognizePartial(utterance, partials)
  const order: string[] = []
  signalWorkers('partials', 'SIGSTOP')
  const behind = live.recognizePartial(utterance, { ...partials, isLowPriority: true })
  const urgent = live.recognizePartial({ path: jfk.path, segment: seconds(0, 3) }, partials)
  signalWorkers('partials', 'SIGCONT')
  const late = behind.finally(() => order.push('behind'))
  await Promise.all([late, urgent.finally(() => order.push('urgent'))])
  assert.deepEqual(order, ['urgent', 'behind'])
  assert.deepEqual(await behind, undisturbed)
})

test('a low-priority final lets another one pass and is still complete', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 11) }
  const undisturbed = await live.recognizeFinal(utterance, finals)
  const order: string[] = []
  signalWorkers('live', 'SIGSTOP')
  const behind = live.recognizeFinal(utterance, { ...finals, isLowPriority: true })
  const urgent = live.recognizeFinal({ path: jfk.path, segment: seconds(0, 3) }, finals)
  signalWorkers('live', 'SIGCONT')
  const late = behind.finally(() => order.push('behind'))
  await Promise.all([late, urgent.finally(() => order.push('urgent'))])
  assert.deepEqual(order, ['urgent', 'behind'])
  assert.deepEqual(await behind, undisturbed)
})

test('a final includes the speaker embedding when requested', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 4) }
  const plain = await live.recognizeFinal(utterance, finals)
  const { speakerEmbedding: speaker, ...rest } = await live.recognizeFinal(utterance, {
    ...finals,
    wantsEmbedding: true,
  })
  assert.deepEqual(rest, plain)
  assert.equal(speaker!.embedding.length, 128)
  assert.ok(speaker!.seconds > 1 && speaker!.seconds < 4, `${speaker!.seconds} s of speech`)
  const again = await live.recognizeFinal(utterance, { ...finals, wantsEmbedding: true })
  assert.deepEqual(again.speakerEmbedding, speaker)
})

test('the context of a split utterance is recognized but not returned', async () => {
  const cut = 8.05
  const context = seconds(5, 11)
  const parts = [seconds(5, cut), seconds(cut, 11)]
  const parted = await Promise.all(
    parts.map((segment) => live.recognizeFinal({ path: jfk.path, segment, context }, finals)),
  )
  const texts = parted.map(({ words }) => textOf(words))
  assert.deepEqual(
    parted.map(({ wordBefore }) => wordBefore),
    [undefined, parted[0]!.words.at(-1)!.text],
  )
  const whole = await live.recognizeFinal({ path: jfk.path, segment: context }, finals)
  assert.equal(texts.join(' '), textOf(whole.words))
  assert.ok(texts.every((text) => text !== ''))
})

test('a final is the same while batches keep the machine busy', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 4) }
  const alone = await live.recognizeFinal(utterance, finals)
  const segments = Array.from({ length: 4 }, () => seconds(0, 11))
  const { signal: _, ...settings } = finals
  const batch = { channel: 0, path: jfk.path, segments, ...settings }
  const stop = new AbortController()
  const keepBusy = async () => {
    for (;;) await engine.runBatch(batch, { signal: stop.signal })
  }
  const busy = assert.rejects(keepBusy(), { name: 'AbortError' })
  assert.deepEqual(await live.recognizeFinal(utterance, finals), alone)
  stop.abort()
  await busy
})

test("an utterance longer than the model's limit is recognized completely", async () => {
  const audio = await readFile(jfk.path)
  const path = join(folder, 'long')
  await writeFile(path, Buffer.concat([audio, audio]))
  const { words } = await live.recognizeFinal({ path, segment: seconds(0, 22) }, finals)
  const { errors } = wordErrors(`${speech} ${speech}`, textOf(words))
  assert.ok(errors <= 2, textOf(words))
})

test('partials grow with the speech, and drafts do not change them', async () => {
  let draft: readonly number[] = []
  const lengths: number[] = []
  for (const end of [1.5, 2, 3, 4]) {
    const utterance = { path: jfk.path, segment: seconds(0, end) }
    const {
      words,
      model,
      draft: next,
    } = await live.recognizePartial(utterance, { ...partials, draft })
    const afresh = await live.recognizePartial(utterance, partials)
    assert.deepEqual([next, model], [afresh.draft, 'moonshine-tiny'])
    lengths.push(words.length)
    draft = next
    for (const [i, word] of words.entries()) {
      assert.ok(word.start >= (words[i - 1]?.start ?? 0), textOf(words))
      assert.ok(word.end >= word.start && word.end <= end, textOf(words))
    }
  }
  assert.ok(lengths[0]! < lengths.at(-1)! && Math.max(...lengths) >= 5, `${lengths} words`)
})

test('using the last partial as a draft does not change the final', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 11) }
  const { draft: tokens, model } = await live.recognizePartial(utterance, partials)
  const drafted = await live.recognizeFinal(utterance, {
    ...finals,
    draft: { text: '', model, tokens },
  })
  const plain = await live.recognizeFinal(utterance, finals)
  assert.ok(tokens.length > 10)
  assert.equal(textOf(drafted.words), textOf(plain.words))
})

/** Runs VAD over a whole recording as live audio; its samples go to `name`. */
async function listenToAll(
  pcm: PcmFile,
  name: string,
  { isDenoised = false } = {},
): Promise<string> {
  const path = join(folder, name)
  const format = { encoding: 's16' as const, sampleRate: SAMPLE_RATE, channels: 1 }
  const audio: LiveAudio = { path: pcm.path, start: 0, format, isDenoised, channels: [path] }
  for (let from = 0, got = 1; got > 0; from += got) {
    const request = { from, frames: pcm.samples, isEnd: true }
    got = (await live.detectSpeech(audio, request, { signal })).probabilities[0]!.length
  }
  return path
}

test('noise reduction does not shift word times', async () => {
  const [plain, cleaned] = await Promise.all(
    [false, true].map(async (isDenoised) => {
      const path = await listenToAll(jfk, `enhanced-${isDenoised}`, { isDenoised })
      return (await live.recognizeFinal({ path, segment: seconds(0, 11) }, finals)).words
    }),
  )
  assert.equal(wordErrors(textOf(plain!), textOf(cleaned!)).errors, 0)
  const moves = plain!.map(({ start }, i) => cleaned![i]!.start - start)
  const mean = moves.reduce((sum, move) => sum + move, 0) / moves.length
  assert.ok(Math.abs(mean) < 0.02, `words moved by ${mean} s`)
})

test('music yields no words in finals or partials', async () => {
  const music = Int16Array.from({ length: 6 * SAMPLE_RATE }, (_, i) => {
    const note = [262, 330, 392, 523][Math.floor(i / 4000) % 4]!
    const phase = (2 * Math.PI * note * i) / SAMPLE_RATE
    const fade = Math.exp(-(i % 4000) / 2000)
    return 10_000 * fade * (Math.sin(phase) + Math.sin(1.5 * phase))
  })
  const path = join(folder, 'music')
  await writeFile(path, new Uint8Array(music.buffer))
  for (const segment of [seconds(0, 1), seconds(0, 3), seconds(0, 6)]) {
    assert.deepEqual((await live.recognizeFinal({ path, segment }, finals)).words, [])
    assert.deepEqual((await live.recognizePartial({ path, segment }, partials)).words, [])
  }
})

test('a killed process fails its call and is replaced', async () => {
  const utterance = { path: jfk.path, segment: seconds(0, 11) }
  // However fast it is, it does not end before it is killed.
  signalWorkers('live', 'SIGSTOP')
  const cut = live.recognizeFinal(utterance, finals)
  signalWorkers('live', 'SIGKILL')
  await assert.rejects(cut, { code: 'engine_failed' })
  const { words } = await live.recognizeFinal(utterance, finals)
  assert.equal(wordErrors(speech, textOf(words)).errors, 0)
})

test('audio written by a killed VAD process is kept and continued', async () => {
  signalWorkers('vad', 'SIGKILL')
  await assert.rejects(listenToAll(jfk, 'killed'), { code: 'engine_failed' })
  const path = await listenToAll(jfk, 'killed')
  assert.deepEqual((await readFile(path)).subarray(0, 2 * jfk.samples), await readFile(jfk.path))
})

test('the client measures the session capacity', async () => {
  await engine.checkReady({ signal })
  assert.ok(live.capacity! >= 1, `capacity is ${live.capacity}`)
})

test('batch processes run at a lower priority than live ones', {
  skip: process.platform !== 'linux',
}, async () => {
  const nice = (role: string) => {
    const [pid] = workersWith(role)
    return Number(execFileSync('ps', ['-o', 'ni=', '-p', String(pid)], { encoding: 'utf8' }))
  }
  // This process may be nice itself.
  assert.equal(nice('batch'), Math.max(nice('live'), 10))
})

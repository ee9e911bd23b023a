import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createServer } from 'node:tls'
import { startSteno } from '../support/cli/run-steno.ts'
import { openReceiver, type Receiver } from '../support/delivery/receiver.ts'

/** What clients run against, and what they send. */
export type ClientServer = {
  url: string
  key: string
  /** Four seconds of English in a WAV file, and what is no recording. */
  recording: string
  badFile: string
  /** Where another server offers the recording. */
  recordingUrl: string
  /** The recording without a header, at 16 kHz and at 24 kHz. */
  pcmFile: string
  pcm24File: string
  /** Gets callbacks, and offers the recording. */
  receiver: Receiver
  close(): Promise<void>
}

/** What the clients recognize in the recording. */
export const SPOKEN = /^And so,? my fellow Americans/

/** A copy of the certificate and key with which `openTlsProxy` answers. */
export const certificate = readFileSync(join(import.meta.dirname, 'localhost.pem'))

/** The settings of docs/clients.md. */
export const clientSettings = {
  STENO_AUTH_HEADER_NAMES: 'x-service-key,x-gladia-key',
  STENO_REQUEST_ID_HEADER_NAMES: 'x-aipi-call-id',
  STENO_MODEL_ALIASES: 'solaria-1=stt-1,solaria-3=stt-3,solaria-fusion=stt-fusion',
  STENO_DEFAULT_MODEL_LABEL: 'solaria-1',
}

const KEY = 'a-key-of-the-tests'
const WAV_HEADER_BYTES = 44

/** Starts `steno serve` with its bundled model, on a free port. */
export async function startClientServer(): Promise<ClientServer> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-clients-'))
  const recording = join(import.meta.dirname, '../fixtures/speech.wav')
  const wav = readFileSync(recording)
  const pcm = wav.subarray(WAV_HEADER_BYTES)
  const files = {
    badFile: join(folder, 'bad.mp3'),
    pcmFile: join(folder, 'speech.pcm'),
    pcm24File: join(folder, 'speech-24k.pcm'),
  }
  writeFileSync(files.badFile, 'This is no recording. '.repeat(50))
  writeFileSync(files.pcmFile, pcm)
  writeFileSync(files.pcm24File, to24Khz(pcm))
  const receiver = await openReceiver(({ method }, response) => {
    if (method !== 'GET') return 200
    response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav)
    return undefined
  })
  const child = startSteno(['serve'], {
    env: {
      STENO_DATA_DIR: join(folder, 'data'),
      STENO_PORT: '0',
      STENO_WORKERS: '1',
      // A number needs no measurement at the start.
      STENO_LIVE_SLOTS: '8',
      STENO_API_KEYS: `test:${KEY}`,
      STENO_RATE_LIMIT: '0',
      STENO_ALLOW_PRIVATE_NETWORK: 'true',
      STENO_LOG_LEVEL: 'fatal',
      ...clientSettings,
    },
  })
  child.stderr.resume()
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [first] = (await Promise.race([once(lines, 'line'), ended])) as [unknown]
  const url = /http:\S+/.exec(String(first))?.[0]
  if (!url) throw new Error(`The server did not start: ${first}`)
  const recordingUrl = `${receiver.url}/speech.wav`
  return {
    url,
    key: KEY,
    recording,
    recordingUrl,
    ...files,
    receiver,
    async close() {
      child.kill('SIGTERM')
      await Promise.all([ended, receiver.close()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Samples between two others lie on the line between them. */
function to24Khz(pcm: Buffer): Buffer {
  const result = Buffer.alloc(pcm.length * 1.5)
  for (let i = 0; i < result.length / 2; i++) {
    const at = Math.min((i * 2) / 3, pcm.length / 2 - 2)
    const [left, rest] = [Math.floor(at), at % 1]
    const [a, b] = [pcm.readInt16LE(2 * left), pcm.readInt16LE(2 * left + 2)]
    result.writeInt16LE(Math.round(a + (b - a) * rest), 2 * i)
  }
  return result
}

/** Puts TLS in front of the server, as a proxy does. Some clients do without it for no address. */
export async function openTlsProxy(target: string): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(target)
  const server = createServer({ key: certificate, cert: certificate }, (socket) => {
    const upstream = connect(Number(port), hostname)
    for (const one of [socket, upstream]) one.on('error', () => {})
    socket.pipe(upstream).pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address() as { port: number }
  return { url: `https://127.0.0.1:${address.port}`, close: () => server.close() }
}

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { pythonOf } from '../../../scripts/tests/test-tools/test-clients.ts'
import { SAMPLE } from '../cli/run-steno.ts'
import { openReceiver } from '../delivery/receiver.ts'
import { startChild } from '../server/child-server.ts'
import { createDatabase, noPostgres } from '../storage/databases/test-postgres.ts'
import { noS3, s3Settings } from '../storage/objects/test-s3.ts'
import { makeFolder } from '../storage/test-storage.ts'
import { makeJob, planOf } from './plans.ts'
import { writePrograms } from './programs.ts'
import { root, type Sample, samplePages, samplesOf } from './samples.ts'

const execute = promisify(execFile)
const missing = ['curl', 'jq'].filter((tool) => spawnSync(tool, ['--version']).error)
const skip = missing.length > 0 && `needs ${missing.join(' and ')}`
const SAMPLE_MS = 180_000

/** A reader's folder with recordings, a shell that keeps its variables, and a server. */
type Reader = { folder: string; run(script: string): Promise<string>; adapt(code: string): string }

/** Folders of a machine that samples name, which are below the reader's folder here. */
const MACHINE_PATH = /(?<=[\s=@'"])\/(?=(?:srv|mnt|media|etc|backup|tmp)\/)/g

/** What a reader replaces by a key. */
const PLACEHOLDER = /=(?:\.\.\.|…)(?=\s|$)/gm

async function openReader(t: TestContext, page: string): Promise<Reader> {
  const [folder, data] = [await makeFolder(t), await makeFolder(t)]
  // Takes what is sent, and has a recording at every address.
  const recording = await readFile(SAMPLE)
  const receiver = await openReceiver(({ method }, response) => {
    if (method !== 'GET') return 200
    response.end(recording)
    return undefined
  })
  t.after(() => receiver.close())
  const server = await startChild(t, data, {
    env: {
      STENO_API_KEYS: 'default:child-key',
      FAKE_TEXT:
        page === 'docs/corrections.md' ? 'we sale bred' : 'Two people set the delivery date.',
      STENO_ALLOW_PRIVATE_NETWORK: 'true',
      STENO_AUTH_HEADER_NAMES: 'x-service-key,x-gladia-key',
      STENO_MODEL_ALIASES: 'solaria-1=stt-1',
      STENO_MODELS_MIRROR: 'http://127.0.0.1:1',
    },
  })
  assert.ok(server)
  for (const name of ['talk.mp3', 'talk.mp4', 'meeting.m4a', 'call.wav', 'recordings/one.mp3']) {
    await mkdir(join(folder, name, '..'), { recursive: true })
    await copyFile(SAMPLE, join(folder, name))
  }
  for (const name of ['srv', 'mnt', 'media', 'etc/steno', 'backup', 'tmp', 'home'])
    await mkdir(join(folder, name), { recursive: true })
  await writeFile(join(folder, 'talk.raw'), tone(3))
  await writeFile(join(folder, 'names.json'), '["Kaltrix"]')
  for (const name of ['examples', 'deploy']) await symlink(join(root, name), join(folder, name))
  const bin = await writePrograms(folder)
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    STENO_URL: server.url,
    STENO_KEY: server.key,
    STENO_DATA_DIR: data,
    STENO_LOG_LEVEL: 'error',
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    // Servers then start with half of the processor time.
    STENO_WORKERS: '1',
    STENO_LIVE_SLOTS: '30',
    SAMPLES_FOLDER: folder,
    SAMPLES_DATA: data,
    ...(page === 'docs/scaling.md' && (await sharedServices())),
    ...(page === 'docs/data-protection.md' && (await databases(1))),
  }
  const state = join(folder, '.shell')
  return {
    folder,
    async run(script) {
      const whole = `[ ! -e ${state} ] || . ${state}\nset -a\n${script}\nset +a\nexport -p > ${state}`
      const options = { cwd: folder, env, timeout: SAMPLE_MS, maxBuffer: 2 ** 24 }
      const { stdout, stderr } = await execute('bash', ['-eo', 'pipefail', '-c', whole], options)
      return stdout + stderr
    },
    adapt: (code) =>
      code
        .replace(/http:\/\/(?:127\.0\.0\.1|localhost):7070/g, server.url)
        .replace(/https:\/\/example\.(?:com|org)\//g, `${receiver.url}/`)
        .replace(MACHINE_PATH, `${folder}/`),
  }
}

/** A database for each sample that needs one, and a bucket; nothing where there is none. */
async function sharedServices(): Promise<Record<string, string>> {
  if (noPostgres || noS3) return {}
  const { bucket, prefix, endpoint } = await s3Settings()
  return {
    ...(await databases(3)),
    TEST_OBJECT_STORE: `s3://${bucket}/${prefix}`,
    TEST_ENDPOINT: encodeURIComponent(endpoint!),
  }
}

/** Returns the addresses of `count` new databases by their variables; none without PostgreSQL. */
async function databases(count: number): Promise<Record<string, string>> {
  if (noPostgres) return {}
  const made = await Promise.all(Array.from({ length: count }, () => createDatabase()))
  return Object.fromEntries(made.map(({ url }, n) => [`TEST_DATABASE_${n}`, url]))
}

/** Samples at 16 kHz that the engine of the tests takes for speech. */
function tone(seconds: number): Uint8Array {
  const samples = Int16Array.from({ length: seconds * 16_000 }, (_, i) => 8000 * Math.sin(i / 6))
  return new Uint8Array(samples.buffer)
}

async function runSample(sample: Sample, reader: Reader): Promise<void> {
  const { language, page, line, file } = sample
  const plan = planOf(sample)
  let code = reader.adapt(sample.code)
  for (const [from, to] of plan?.replace ?? []) code = code.replaceAll(from, to)
  code = code.replaceAll(PLACEHOLDER, '=$STENO_KEY')
  if (plan?.before) await reader.run(plan.before)
  const name = file ?? `sample-${line}.${language === 'js' ? 'mjs' : 'py'}`
  if (language === 'js') {
    await writeFile(join(reader.folder, name), code)
    await reader.run(`node ${name}`)
  } else if (language === 'python') {
    await writeFile(join(reader.folder, name), code)
    await reader.run(`${pythonOf('newest').program} ${name}`)
  } else if (language === 'crontab') {
    await reader.run(code.replace(/^(?:\S+ +){5}/gm, ''))
  } else if (language === 'http') {
    await reader.run(makeJob('{"diarization": true}'))
    const [, method, path, body, status] = /^(\w+) (\S+)\n(.*?)^→ (\d+)/ms.exec(code)!
    await writeFile(join(reader.folder, 'body.json'), body!)
    const answered = await reader.run(
      `curl -s -w '%{http_code}' -X ${method} -H "x-service-key: $STENO_KEY" -H 'content-type: application/json' \\
        -d @body.json "$STENO_URL${path!.replace('ID', '$ID')}"`,
    )
    assert.ok(answered.trim().endsWith(status!), `${page}:${line}: ${answered}`)
  } else {
    const output = await reader.run(code)
    if (!plan?.mayFail) assert.doesNotMatch(output, /statusCode|"error":\{/, code)
  }
}

/**
 * Defines a test for each page that `isOwn` accepts: its samples run as a reader would run them,
 * one after the other in one folder and one shell.
 */
export function testSamples(isOwn: (page: string) => boolean): void {
  for (const page of samplePages.filter(isOwn)) {
    const samples = samplesOf(page).filter(({ language }) => {
      return ['sh', 'js', 'python', 'crontab', 'http'].includes(language)
    })
    if (samples.length === 0) continue
    test(`the samples of ${page} run`, { skip }, async (t) => {
      const reader = await openReader(t, page)
      for (const sample of samples) {
        const name = `line ${sample.line}`
        const { notRun, missing } = planOf(sample) ?? {}
        await t.test(name, { skip: notRun ?? missing ?? false }, () => runSample(sample, reader))
      }
    })
  }
}

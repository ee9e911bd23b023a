import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'

/** The Python package with the server of llama.cpp (MIT), where `.ci/run` puts it. */
const folder = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'steno',
  'xllamacpp-2026.10.11549',
)
const weights = findTestWeights('smollm2-135m')
const script = fileURLToPath(new URL('llama_server.py', import.meta.url))

/** Why the server cannot run, the reason to skip a test; else false. */
export const noLlamaServer: string | false =
  weights.missing ??
  (existsSync(folder) ? false : `no llama.cpp server: .ci/run puts it in ${folder}`)

/** A running server of llama.cpp with a small model. */
export type LlamaServer = { url: string; apiKey: string; process: ChildProcess }

/** Starts the server; to be killed. Rejects with the end of its output when it does not start. */
export async function startLlamaServer(contextTokens: number): Promise<LlamaServer> {
  const apiKey = 'secret'
  const model = join(weights.folder!, 'model.gguf')
  const child = spawn('python3', [script, model, `${contextTokens}`, apiKey], {
    env: { PATH: process.env.PATH, PYTHONPATH: folder },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('http')) return { url: `${line}/v1`, apiKey, process: child }
  }
  throw new Error(`the server of llama.cpp does not start: ${stderr}`)
}

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The two sets of versions that tests run: the newest ones, and ones before them. */
export type ClientSet = 'newest' | 'previous'

/**
 * Third-party client packages that the tests run unchanged against this server. docs/clients.md
 * lists their coverage; `scripts/tests/test-tools/install-test-clients.ts` installs them, outside
 * of this folder.
 */
export const testClients = {
  npm: {
    newest: {
      '@gladiaio/sdk': '2.1.0',
      '@ai-sdk/gladia': '3.0.40',
      '@ai-sdk/openai': '4.0.118',
      ai: '7.0.173',
      openai: '7.59.0',
    },
    previous: {
      '@gladiaio/sdk': '0.6.1',
      '@ai-sdk/gladia': '2.0.58',
      '@ai-sdk/openai': '3.0.141',
      ai: '6.0.326',
      openai: '6.49.0',
    },
  },
  python: {
    newest: {
      'gladiaio-sdk': '2.2.1',
      'livekit-agents': '1.8.9',
      'livekit-plugins-gladia': '1.8.9',
      'livekit-plugins-openai': '1.8.9',
      openai: '3.57.0',
      'pipecat-ai': '1.14.0',
      'videosdk-agents': '1.0.30',
      'videosdk-plugins-gladia': '1.0.30',
      wyoming: '1.10.2',
    },
    previous: {
      'gladiaio-sdk': '1.0.5',
      'livekit-agents': '1.7.1',
      'livekit-plugins-gladia': '1.7.1',
      'livekit-plugins-openai': '1.7.1',
      openai: '2.54.0',
      'pipecat-ai': '1.13.0',
      'videosdk-agents': '1.0.29',
      'videosdk-plugins-gladia': '1.0.29',
      wyoming: '1.9.0',
    },
  },
} as const

/**
 * What the Python packages import, in versions that suit both sets. Without the rest of what they
 * declare (documentation tools, data frames), the installation takes half the time.
 */
export const pythonNeeds: readonly string[] = [
  "audioop-lts==0.2.2; python_version >= '3.13'",
  ...`
  aiofiles==25.1.0 aiohappyeyeballs==2.7.1 aiohttp==3.14.5 aioice==0.13.0 aiosignal==1.4.0
  annotated-types==0.8.0 anyio==4.16.0 attrs==26.1.0 audio-resampler==0.1.0 av==16.1.0
  certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.2 click==8.5.1 cryptography==50.0.2
  dataclasses-json==0.6.7 distro==1.9.0 dnspython==2.9.2 docstring_parser==0.18.0
  frozenlist==1.8.0 google-crc32c==1.9.0 h11==0.16.0 h264-profile-level-id==1.0.0
  httpcore2==2.16.2 httpcore==1.0.9 httpx2==2.16.2 httpx==0.28.1 idna==3.20 ifaddr==0.2.0
  jiter==0.19.0 json_repair==0.63.5 livekit-api==1.2.2 livekit-blingfire==1.2.0
  livekit-local-inference==0.2.7 livekit-protocol==1.1.29 livekit==1.1.21 loguru==0.7.3
  loudness==0.2.0 marshmallow==3.26.2 mcp-types==2.3.0 mcp==2.3.0 multidict==7.2.1
  mypy_extensions==1.2.0 numpy==2.5.5 opentelemetry-api==1.45.2
  opentelemetry-exporter-http-transport==0.66b2 opentelemetry-exporter-otlp-common==0.66b2
  opentelemetry-exporter-otlp-proto-common==1.45.2 opentelemetry-exporter-otlp-proto-http==1.45.2
  opentelemetry-proto==1.45.2 opentelemetry-sdk==1.45.2
  opentelemetry-semantic-conventions==0.66b2 packaging==26.3 pillow==13.0.0
  prometheus_client==0.26.0 propcache==0.5.4 protobuf==5.29.6 psutil==7.2.2 pycparser==3.12
  pycryptodome==3.20.0 pydantic==2.14.3 pydantic_core==2.50.4 pyee==16.0.1 Pygments==2.21.0
  PyJWT==2.15.1 pylibsrtp==1.0.0 pyOpenSSL==26.4.0 python-multipart==0.0.34 requests==2.31.0
  rich==15.0.0 sdp-transform==1.1.0 sentencex==1.0.32 sniffio==1.3.1 soxr==1.0.0
  sse-starlette==3.7.0 starlette==1.10.0 truststore==0.10.5 typing-inspect==0.9.0
  typing-inspection==0.4.5 typing_extensions==4.16.0 urllib3==2.8.0 uvicorn==0.54.0
  videosdk==0.4.1 vsaiortc==0.0.18 watchfiles==1.3.0 websockets==15.0.1 yarl==1.25.1
  `
    .trim()
    .split(/\s+/),
]

/** A part that is installed by itself. */
export type ClientPart = `${'npm' | 'python'}-${ClientSet}`

/** The folder of a part, in the user's cache folder; another list of packages has another one. */
export function clientFolder(part: ClientPart): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const list = JSON.stringify([testClients, pythonNeeds])
  const hash = createHash('sha256').update(list).digest('hex').slice(0, 12)
  return join(cache, 'steno', 'test-clients', hash, part)
}

/** Returns why the clients of a part cannot run, the reason to skip a test; else undefined. */
export function whyNoClients(part: ClientPart): string | undefined {
  const parts: ClientPart[] = part === 'python-previous' ? ['python-newest', part] : [part]
  if (parts.every((one) => existsSync(clientFolder(one)))) return undefined
  return `no ${part} clients: run 'node scripts/tests/test-tools/install-test-clients.ts'`
}

/** Loads an npm client of a set. */
export function loadClient<T>(name: string, set: ClientSet): T {
  return createRequire(join(clientFolder(`npm-${set}`), 'package.json'))(name) as T
}

/** Returns the Python interpreter with the clients, and what selects their set. */
export function pythonOf(set: ClientSet): { program: string; env: Record<string, string> } {
  const program = join(clientFolder('python-newest'), 'bin', 'python')
  return { program, env: set === 'previous' ? { PYTHONPATH: clientFolder('python-previous') } : {} }
}

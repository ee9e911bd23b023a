import { after, before, describe, test } from 'node:test'
import { whyNoClients } from '../../../scripts/tests/test-tools/test-clients.ts'
import { checkGladiaProvider, checkOpenAiHints, checkOpenAiProvider } from '../../clients/ai-sdk.ts'
import { type ClientServer, startClientServer } from '../../clients/client-server.ts'
import {
  checkLive,
  checkModels,
  checkRecordings,
  checkRefusedSession,
} from '../../clients/gladia-sdk.ts'
import { checkErrors, checkRealtime, checkTranscriptions } from '../../clients/openai-node.ts'
import {
  checkGladiaSdk,
  checkLivekit,
  checkLivekitOpenAi,
  checkOpenAi,
  checkPipecat,
  checkVideosdk,
  checkWyoming,
} from '../../clients/python.ts'

// Clients of other people, unchanged, in two versions each. What they covered: docs/clients.md.

const parts = ['npm-newest', 'npm-previous', 'python-newest', 'python-previous'] as const
let server: ClientServer
before(async () => {
  if (parts.some((part) => !whyNoClients(part))) server = await startClientServer()
})
after(() => server?.close())

const npm = {
  // The one before has no recordings.
  '@gladiaio/sdk transcribes files and URLs': { newest: checkRecordings },
  '@gladiaio/sdk names each model': { newest: checkModels },
  '@gladiaio/sdk carries a live session': { newest: checkLive, previous: checkLive },
  // The one before ends the program with an unhandled rejection.
  '@gladiaio/sdk is refused': { newest: checkRefusedSession },
  '@ai-sdk/gladia transcribes': { newest: checkGladiaProvider, previous: checkGladiaProvider },
  '@ai-sdk/openai transcribes': { newest: checkOpenAiProvider, previous: checkOpenAiProvider },
  // The one before has neither.
  '@ai-sdk/openai sends hints and streams': { newest: checkOpenAiHints },
  'openai transcribes': { newest: checkTranscriptions, previous: checkTranscriptions },
  'openai knows each error': { newest: checkErrors, previous: checkErrors },
  'openai transcribes in real time': { newest: checkRealtime, previous: checkRealtime },
}
const python = {
  'gladiaio-sdk': checkGladiaSdk,
  'livekit-plugins-gladia': checkLivekit,
  'livekit-plugins-openai': checkLivekitOpenAi,
  'pipecat-ai': checkPipecat,
  'videosdk-plugins-gladia': checkVideosdk,
  openai: checkOpenAi,
  wyoming: checkWyoming,
}

for (const set of ['newest', 'previous'] as const) {
  describe(`npm packages (${set})`, { skip: whyNoClients(`npm-${set}`) ?? false }, () => {
    for (const [name, checks] of Object.entries(npm)) {
      const check = (checks as { [key in typeof set]?: typeof checkLive })[set]
      if (check) test(name, () => check(server, set))
    }
  })
  const missing = whyNoClients(`python-${set}`)
  // A program takes longer to load its packages than to use them.
  describe(`Python packages (${set})`, { skip: missing ?? false, concurrency: 2 }, () => {
    for (const [name, check] of Object.entries(python)) test(name, () => check(server, set))
  })
}

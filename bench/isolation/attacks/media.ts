import type { Attack, Attacker } from '../attacker.ts'
import {
  chunkedWav,
  claimingAvi,
  manyOggStreams,
  oddWav,
  paddedFlac,
  taggedMp3,
  tinyFlv,
  tinyMkv,
} from './containers.ts'
import { claimingMp4, deepMp4, fragmentedMp4 } from './mp4.ts'

/** Uploads a file, and creates a job for it if it is accepted. */
async function uploadAndUse(
  { send }: Attacker,
  { name, bytes }: { name: string; bytes: Uint8Array<ArrayBuffer> },
): Promise<void> {
  const form = new FormData()
  form.set('audio', new Blob([bytes]), name)
  const { status, text } = await send('/v2/upload', { body: form })
  if (status !== 200) return
  const { audio_url } = JSON.parse(text) as { audio_url: string }
  await send('/v2/pre-recorded', { json: { audio_url } })
}

/** Uploads the files in turn, in `concurrency` loops at once. */
function uploads(name: string, make: () => Buffer[], concurrency = 20): Attack {
  return {
    async run(attacker) {
      const files = make().map((file) => new Uint8Array(file))
      let next = 0
      await attacker.repeat(concurrency, async () => {
        const bytes = files[next++ % files.length]!
        if (attacker.spend(bytes.length)) await uploadAndUse(attacker, { name, bytes })
      })
    },
  }
}

const MEGABYTE = 1_000_000
const MOST = 2 ** 32 - 1
const samples = 85_000_000

/** Attacks with files that claim more content than they have, or have it in tiny pieces. */
export const mediaAttacks: Record<string, Attack> = {
  'media-mp4-one': uploads('a.mp4', () => [claimingMp4({ tracks: 3, samples })], 1),
  'media-mp4': uploads('a.mp4', () => [claimingMp4({ tracks: 3, samples })]),
  'media-mp4-medium': uploads('a.mp4', () => [claimingMp4({ tracks: 1, samples: 20_000_000 })]),
  'media-mp4-entries': uploads('a.mp4', () => [
    claimingMp4({ tracks: 1, samples: MOST, entries: 200_000_000 }),
    claimingMp4({ tracks: 30, samples: 3_000_000 }),
    claimingMp4({ tracks: 1, samples: MOST, brand: 'qt  ' }),
  ]),
  'media-mp4-boxes': uploads('a.mp4', () => [
    deepMp4(100_000),
    fragmentedMp4(100),
    fragmentedMp4(20_000),
    claimingMp4({ tracks: 800, samples: 100 }),
  ]),
  'media-flv': uploads('a.flv', () => [tinyFlv(30 * MEGABYTE)], 4),
  'media-mkv': uploads(
    'a.mkv',
    () => [
      tinyMkv({ bytes: 20 * MEGABYTE, tracks: 1 }),
      tinyMkv({ bytes: 80, tracks: 2000 }),
      tinyMkv({ bytes: 8 * MEGABYTE, tracks: 90 }),
    ],
    4,
  ),
  'media-ogg': uploads('a.ogg', () => [
    manyOggStreams(MEGABYTE),
    manyOggStreams(47 * 300),
    manyOggStreams(47 * 90),
  ]),
  'media-wav': uploads(
    'a.wav',
    () => [
      chunkedWav(20 * MEGABYTE),
      oddWav({ channels: 65_535, rate: MOST, bits: 32 }),
      oddWav({ channels: 1, rate: 1, bits: 8 }),
      oddWav({ channels: 8, rate: 768_000, bits: 32 }),
    ],
    6,
  ),
  'media-streams': uploads(
    'a',
    () => [paddedFlac(20 * MEGABYTE), taggedMp3(20 * MEGABYTE), claimingAvi(2000), claimingAvi(90)],
    6,
  ),
}

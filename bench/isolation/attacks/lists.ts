import type { Attack, Attacker } from '../attacker.ts'

const vocabularyOf = (entries: number) =>
  Array.from({ length: entries }, (_, n) => `Name ${n} of the list`)

/** Creates jobs that fail at once and stay in the lists, each with `entries` vocabulary entries. */
async function fill({ send }: Attacker, { jobs, entries }: { jobs: number; entries: number }) {
  for (let n = 0; n < jobs; n++) {
    await send('/v2/pre-recorded', {
      json: {
        audio_url: 'http://10.255.0.1/a.wav',
        custom_metadata: { n, team: n % 3, deep: { a: { b: n } } },
        ...(entries > 0 && {
          custom_vocabulary: true,
          custom_vocabulary_config: { vocabulary: vocabularyOf(entries) },
        }),
      },
    })
  }
}

/** Creates some jobs, then requests the lists in turn, in 20 concurrent loops. */
function requestLists(paths: readonly string[], entries = 0): Attack {
  return {
    async run(attacker) {
      await fill(attacker, { jobs: entries > 0 ? 15 : 30, entries })
      let next = 0
      await attacker.repeat(20, async () => {
        await attacker.send(paths[next++ % paths.length]!)
      })
    },
  }
}

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value))
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
const deep = (depth: number) => `custom_metadata${'[a]'.repeat(depth)}=1`

/** Attacks with lists that are slow to build. */
export const listAttacks: Record<string, Attack> = {
  'list-filters': requestLists([
    `/v2/transcription?limit=1000&custom_metadata=${json({ team: 1 })}`,
    `/v2/transcription?limit=1000&offset=999999999&custom_metadata=${json({ deep: { a: { b: 1 } } })}`,
    `/v2/pre-recorded?limit=1000&offset=9007199254740991`,
    `/v2/transcription?limit=1000&status=done,error,queued,processing&kind=live,pre-recorded`,
  ]),
  'list-metadata-keys': requestLists([
    `/v2/transcription?limit=1000&custom_metadata=${json(keys(700))}`,
  ]),
  'list-brackets': requestLists([`/v2/transcription?limit=1000&${deep(4000)}`]),
  'list-many-values': requestLists([`/v2/transcription?${'status=done&'.repeat(1200)}limit=1000`]),
  'list-heavy-jobs': requestLists(['/v2/transcription?limit=1000'], 10_000),
}

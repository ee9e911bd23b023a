import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ApiTranscriptEdits } from '../../../../src/cli/client/api-types.ts'
import { type ApiUtterance, type ApiWord, type Job, RequestError, request } from '../../api/api.ts'
import { inOrder } from '../../api/in-order.ts'
import { notify, report } from '../../components/notices.tsx'
import { texts } from '../../texts.ts'
import { type Drafts, draftsOf, noDrafts } from './drafts.ts'

/** The original words of a part of the corrected transcript; `to` is exclusive. */
export type Source = { utterance: number; from: number; to: number }

/** An utterance of the corrected transcript. */
export type ShownUtterance = Omit<ApiUtterance, 'words'> & {
  words: (ApiWord & { source: number; edited?: boolean })[]
  source: Source
  /** The name that a correction gave to the speaker or the channel. */
  speaker_name?: string
}

/** A correction; see docs/corrections.md. */
export type Operation = { op: string } & Record<string, string | number>

/** The transcript with its corrections, and the functions that add to them. */
export type Edits = {
  utterances: readonly ShownUtterance[]
  /** Undefined until it is loaded. */
  state: ApiTranscriptEdits | undefined
  /** Stores corrections and shows them; if that fails, shows a notice and resolves to false. */
  apply: (...operations: Operation[]) => Promise<boolean>
  /** Returns the position of a part, with the words that the server must find there. */
  positionOf: (source: Source) => { utterance: number; from: number; to: number; expected: string }
  /** What was typed but is not stored. */
  drafts: Drafts
}

/** Loads the corrections of a job's transcript. */
export function useEdits(job: Job): Edits {
  const machine = job.result!.transcription.utterances
  const plain = useMemo(() => machine.map(withSource), [machine])
  const [state, setState] = useState<ApiTranscriptEdits>()
  const [utterances, setUtterances] = useState<readonly ShownUtterance[]>(plain)
  const version = useRef(0)
  const path = `v2/${job.kind}/${job.id}/transcript`
  const drafts = useMemo(() => draftsOf(path), [path])

  const show = useMemo(() => {
    return inOrder(([edits, shown]: Loaded) => {
      version.current = edits.version
      setState(edits)
      setUtterances(shown)
    })
  }, [])
  const load = useCallback(() => show(read(path, plain)), [show, path, plain])
  useEffect(() => {
    load().catch(report)
  }, [load])

  // Corrections are sent one at a time, because each is based on the version that the previous one
  // created.
  const last = useRef(Promise.resolve(true))
  const apply = useCallback(
    (...operations: Operation[]) => {
      const store = async (): Promise<boolean> => {
        try {
          const json = { base_version: version.current, operations }
          const made = await request<{ version: number }>(`${path}/edits`, {
            method: 'PATCH',
            json,
          })
          version.current = made.version
        } catch (error) {
          const isOld = error instanceof RequestError && error.code === 'edits_outdated'
          if (isOld) notify(texts.corrections.outdated, { kind: 'error' })
          else report(error)
          if (isOld) await load().catch(report)
          return false
        }
        await load().catch(report)
        return true
      }
      last.current = last.current.then(store)
      return last.current
    },
    [path, load],
  )
  const positionOf = useCallback(
    ({ utterance, from, to }: Source) => {
      const words = machine[utterance]!.words.slice(from, to)
      return { utterance, from, to, expected: words.map(({ word }) => word).join('') }
    },
    [machine],
  )
  return { utterances, state, apply, positionOf, drafts }
}

type Loaded = [edits: ApiTranscriptEdits, shown: readonly ShownUtterance[]]

/** Reads the corrections of a transcript, and the corrected transcript. */
async function read(path: string, plain: readonly ShownUtterance[]): Promise<Loaded> {
  // The version is read first: if the transcript is newer, the server refuses a correction, whereas
  // an older transcript would undo corrections.
  const edits = await request<ApiTranscriptEdits>(`${path}/edits`)
  const { words, speakers, joined } = edits.edits
  if (words.length + speakers.length + joined.length === 0) return [edits, plain]
  const { utterances } = await request<{ utterances: ShownUtterance[] }>(
    `${path}?format=json&words=true&edited=true`,
  )
  return [edits, utterances]
}

/** Returns a transcript that cannot be corrected on this page. */
export function readOnly(utterances: readonly (ApiUtterance | ShownUtterance)[]): Edits {
  return {
    utterances: utterances.map((shown, i) => ('source' in shown ? shown : withSource(shown, i))),
    state: undefined,
    apply: async () => false,
    positionOf: (source) => ({ ...source, expected: '' }),
    drafts: noDrafts(),
  }
}

function withSource(utteranceView: ApiUtterance, utterance: number): ShownUtterance {
  return {
    ...utteranceView,
    words: utteranceView.words.map((word, source) => ({ ...word, source })),
    source: { utterance, from: 0, to: utteranceView.words.length },
  }
}

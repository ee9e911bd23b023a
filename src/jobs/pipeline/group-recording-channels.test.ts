import assert from 'node:assert/strict'
import test from 'node:test'
import type { GroupChannelsTask } from '../../asr/speech-engine.ts'
import { groupRecordingChannels } from './group-recording-channels.ts'

/** Returns the task for channels of which each is equal to an earlier one, or to none (null). */
async function taskOf(sameAs: readonly (number | null)[]): Promise<GroupChannelsTask | undefined> {
  let task: GroupChannelsTask | undefined
  const speech = {
    async groupChannels(given: GroupChannelsTask) {
      task = given
      return []
    },
  }
  const space = { reserveBytes: async () => ({ [Symbol.dispose]() {} }) }
  const checkpoints = { channelGroups: <T>(run: (folder: string) => Promise<T>) => run('folder') }
  const channels = sameAs.map((same, channel) => {
    return { channel, path: `${channel}`, samples: 16_000, sameAs: same }
  })
  const deps = { speech, space } as unknown as Parameters<typeof groupRecordingChannels>[0]
  const signal = new AbortController().signal
  await groupRecordingChannels(deps, { duration: 1, channels }, { params: {}, checkpoints, signal })
  return task
}

test('the third of six or eight channels is the center, unless it duplicates another', async () => {
  const none = null
  assert.equal((await taskOf([none, none, none, none, none, none]))?.center, 2)
  assert.equal((await taskOf([none, none, none, none, 3, 3, 3, 3]))?.center, 2)
  assert.equal((await taskOf([none, 0, 0, none, 3, 3]))?.center, 0)
  assert.equal((await taskOf([none, none, none, none]))?.center, undefined)
})

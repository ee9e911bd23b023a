import assert from 'node:assert/strict'
import test from 'node:test'

type Port = { onmessage?: () => void; postMessage(message: ArrayBuffer | null): void }
type Processor = { port: Port; process(inputs: Float32Array[][]): boolean }

/** What a browser gives to a worklet. */
const scope = {
  sampleRate: 16_000,
  AudioWorkletProcessor: class {
    port: Port = { postMessage() {} }
  },
  registerProcessor(_name: string, type: new () => Processor) {
    Capture = type
  },
}
let Capture: new () => Processor

test('the worklet posts a tenth of a second at a time, and the rest when it is asked', async () => {
  Object.assign(globalThis, scope)
  await import('../../../dashboard/src/live/capture-worklet.js' as string)
  const worklet = new Capture()
  const posted: (number | null)[] = []
  worklet.port.postMessage = (message) => posted.push(message && message.byteLength / 2)
  for (let block = 0; block < 20; block++) worklet.process([[new Float32Array(128)]])
  assert.deepEqual(posted, [1600])
  worklet.port.onmessage!()
  assert.deepEqual(posted, [1600, 20 * 128 - 1600, null])
  worklet.port.onmessage!()
  assert.deepEqual(posted.slice(3), [null])
})

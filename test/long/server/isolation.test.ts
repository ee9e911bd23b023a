import assert from 'node:assert/strict'
import test from 'node:test'
import { measure } from '../../../bench/isolation/measure.ts'

/**
 * Bars of a busy machine, far above those of the bench and far below what each attack did to the
 * server before it was kept off: seconds of silence, gigabytes of memory.
 */
const BARS = { requestP95: 1500, finalP95: 2500, peakMB: 1500 }
const SECONDS = 4
/** Other tests may take the whole machine for a while. An attack that gets through always does. */
const TRIES = 3

/** Of sockets and JSON the first, of texts, media and names the second. */
const worst = ['together-bodies', 'together-files']

for (const attack of worst) {
  test(`an account is still served while another one attacks with ${attack}`, async () => {
    for (let tries = 1; ; tries++) {
      const measured = await measure({ seconds: SECONDS, isFake: true, attack })
      const shown = JSON.stringify(measured)
      const { requestMs, finalMs, failures, sessionCodes, peakMB, held } = measured
      assert.deepEqual(failures, {}, shown)
      assert.ok(held.nothingLost, shown)
      assert.ok(peakMB < BARS.peakMB, shown)
      assert.equal(measured.attacker?.begun, 1, 'the attack has begun')
      const isQuick = requestMs.p95! < BARS.requestP95 && finalMs.p95! < BARS.finalP95
      const areWhole = sessionCodes.every((code) => code === 1000)
      if (isQuick && areWhole && held.jobs) break
      assert.ok(tries < TRIES, shown)
    }
  })
}

import { globSync } from 'node:fs'

const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]

/** Why no clock can be wrong here; `false` if one can. */
export const noWrongClock: string | false = library ? false : 'libfaketime is not installed'

/** Returns settings of a process whose clock differs by so much, such as `+1h`. */
export function wrongClock(offset: string): Record<string, string> {
  // Timers go on as ever: time passes on a machine whose clock is wrong, too.
  return {
    LD_PRELOAD: library!,
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  }
}

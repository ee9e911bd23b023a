import type { Attack } from './attacker.ts'
import { byteAttacks } from './attacks/bytes.ts'
import { connectionAttacks } from './attacks/connections.ts'
import { formAttacks } from './attacks/forms.ts'
import { jsonAttacks } from './attacks/json.ts'
import { listAttacks } from './attacks/lists.ts'
import { frameAttacks } from './attacks/live/live-frames.ts'
import { sessionAttacks } from './attacks/live/live-sessions-held.ts'
import { mediaAttacks } from './attacks/media.ts'
import { netAttacks } from './attacks/net.ts'

const single: Record<string, Attack> = {
  ...jsonAttacks,
  ...formAttacks,
  ...listAttacks,
  ...frameAttacks,
  ...sessionAttacks,
  ...mediaAttacks,
  ...netAttacks,
  ...byteAttacks,
  ...connectionAttacks,
}

/** Runs several attacks at once, with the setup of all of them. */
function together(...names: string[]): Attack {
  const all = names.map((name) => single[name]!)
  return {
    surroundings: Object.assign({}, ...all.map(({ surroundings }) => surroundings)),
    async run(attacker) {
      await Promise.all(all.map(({ run }) => run(attacker)))
    },
  }
}

/** All attacks by name. */
export const attacks: Record<string, Attack> = {
  ...single,
  'together-bodies': together('live-tiny-frames', 'json-languages'),
  'together-files': together('live-spelling', 'media-mp4-medium', 'net-names'),
}

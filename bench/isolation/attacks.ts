import type { Attack } from './attacker.ts'
import { byteAttacks } from './attacks/bytes.ts'
import { connectionAttacks } from './attacks/connections.ts'
import { formAttacks } from './attacks/forms.ts'
import { jsonAttacks } from './attacks/json.ts'
import { listAttacks } from './attacks/lists.ts'
import { frameAttacks } from './attacks/live-frames.ts'
import { sessionAttacks } from './attacks/live-sessions-held.ts'
import { mediaAttacks } from './attacks/media.ts'
import { netAttacks } from './attacks/net.ts'

/** All attacks by name. */
export const attacks: Record<string, Attack> = {
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

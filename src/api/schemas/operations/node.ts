import type { Static } from 'typebox'
import { roles } from '../../../config/node.ts'
import { Type } from '../common/type.ts'
import { OneOf } from '../common/values.ts'

const NodeLoad = Type.Object({
  capacity: Type.Number({ description: 'Sessions of continuous speech that it can run.' }),
  load: Type.Number({ description: 'What its sessions need now, in the same unit.' }),
  sessions: Type.Integer({ description: 'Its open sessions.' }),
})

const NodeView = Type.Object(
  {
    id: Type.String(),
    host: Type.String({ description: 'The name of the machine.' }),
    pid: Type.Integer({ description: 'The process on that machine.' }),
    url: Type.Union([Type.String(), Type.Null()], {
      description: 'The address by which other nodes reach it; null while it does not listen.',
    }),
    version: Type.String(),
    roles: Type.Array(OneOf(...roles)),
    state: OneOf('ready', 'draining'),
    started_at: Type.String({ format: 'date-time' }),
    heartbeat_at: Type.String({ format: 'date-time' }),
    live: Type.Optional(NodeLoad),
  },
  { title: 'Node' },
)

/** The processes that share a database. */
export const NodeList = Type.Object({ items: Type.Array(NodeView) }, { title: 'NodeList' })

/** A node in a response. */
export type NodeView = Static<typeof NodeView>

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiNode, ApiNodeList } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { formatDateTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TableHeads } from '../components/table-heads.tsx'
import { texts } from '../texts.ts'

const t = texts.nodes
const REFRESH_MS = 5000

/** Shows the processes that share the database, and their load. */
export function Nodes(): JSX.Element | null {
  const [nodes, setNodes] = useState<ApiNode[]>()
  useEffect(() => {
    const load = () => {
      request<ApiNodeList>('v2/nodes').then(({ items }) => setNodes(items), report)
    }
    load()
    const timer = setInterval(load, REFRESH_MS)
    return () => clearInterval(timer)
  }, [])
  // Nothing is shown before the nodes are loaded.
  if (!nodes) return null
  return (
    <section class="card">
      <h2>{t.title}</h2>
      <table class="stacked">
        <TableHeads heads={t.columns} />
        <tbody>
          {nodes.map((node) => (
            <NodeRow key={node.id} node={node} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function NodeRow({ node }: { node: ApiNode }): JSX.Element {
  const { host, pid, url, roles, state, version, started_at, live } = node
  return (
    <tr>
      <th scope="row">
        <bdi>{url ?? `${host}, ${pid}`}</bdi>
      </th>
      <td data-label={t.columns.roles}>{roles.join(', ')}</td>
      <td data-label={t.columns.state}>
        <span class={state === 'ready' ? 'state done' : 'state'}>{t.state[state]}</span>
      </td>
      <td data-label={t.columns.live}>{live ? t.load(live.load, live.capacity) : '–'}</td>
      <td data-label={t.columns.version}>{version}</td>
      <td data-label={t.columns.started}>{formatDateTime(started_at)}</td>
    </tr>
  )
}

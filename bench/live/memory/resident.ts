import { glob, readFile } from 'node:fs/promises'

/**
 * Returns the resident bytes of a process, and of the process with its descendants. Linux only
 * (/proc).
 */
export async function residentOf(pid: number): Promise<{ own: number; all: number }> {
  const processes = new Map<number, { parent: number; resident: number }>()
  for await (const file of glob('/proc/[0-9]*/status')) {
    const status = await readFile(file, 'utf8').catch(() => '')
    const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
    processes.set(read('Pid'), { parent: read('PPid'), resident: (read('VmRSS') || 0) * 1024 })
  }
  function descends(child: number): boolean {
    for (let at = child; ; ) {
      if (at === pid) return true
      const found = processes.get(at)
      if (!found) return false
      at = found.parent
    }
  }
  let all = 0
  for (const [child, { resident }] of processes) if (descends(child)) all += resident
  return { own: processes.get(pid)?.resident ?? 0, all }
}

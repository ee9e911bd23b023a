import type { Attack, Attacker } from '../attacker.ts'

const BOUNDARY = 'x'

/** Sends one form repeatedly in ten concurrent loops. */
function form(make: () => string): Attack {
  return {
    async run({ send, repeat }) {
      const text = make()
      const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
      await repeat(10, async () => void (await send('/v2/upload', { body: text, headers })))
    },
  }
}

const part = (name: string, content: string, more = '') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
const END = `--${BOUNDARY}--\r\n`
const parts = (count: number, make: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join('') + END

/** Creates a live job, and sends a PATCH body for it in ten concurrent loops. */
function patch(make: () => string): Attack {
  return {
    async run(attacker) {
      const id = await openSession(attacker)
      const text = make()
      await attacker.repeat(10, async () => {
        await attacker.send(`/v2/live/${id}`, { method: 'PATCH', text })
      })
    },
  }
}

/** Creates a session and resolves to its id. */
async function openSession({ send }: Attacker): Promise<string> {
  const { text } = await send('/v2/live', { json: {} })
  return (JSON.parse(text) as { id: string }).id
}

const many = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n])))

/** Attacks with forms and PATCH bodies that are slow to parse. */
export const formAttacks: Record<string, Attack> = {
  'form-fields': form(() => parts(10_000, (n) => part(`f${n}`, '1'))),
  'form-files': form(() => parts(10_000, (n) => part(`f${n}`, '1', `; filename="${n}.wav"`))),
  'form-audio': form(() => parts(5000, () => part('audio', '1', '; filename="a.wav"'))),
  'form-headers': form(() =>
    parts(2000, (n) => `--${BOUNDARY}\r\nx-${n}: ${'y'.repeat(4000)}\r\n\r\n`),
  ),
  'form-dashes': form(() => `--${BOUNDARY}\r\n${'\r\n--'.repeat(500_000)}`),
  'form-long-field': form(() => part('f', 'z'.repeat(5_000_000)) + END),
  'patch-keys': patch(() => many(7000)),
  'patch-deep': patch(() => `{"a":${'['.repeat(49_000)}${']'.repeat(49_000)}}`),
  'patch-large': patch(() => JSON.stringify({ a: 'x'.repeat(1_000_000) })),
}

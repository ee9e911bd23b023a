import { createHash } from 'node:crypto'
import { floatsOf, type Tensors } from '../../onnx/onnx-runtime.ts'
import type { MelFeatures } from './features.ts'

/** Encoded chunks that are soon needed again, within a number of bytes; the oldest are removed. */
export type EncodingCache = {
  keep(features: MelFeatures, chunk: Tensors): void
  /** Returns the encoding of a chunk, if kept, and removes it. */
  take(features: MelFeatures): Tensors | undefined
}

/** Creates an empty store. Pieces are found by the content of their features. */
export function createEncodingCache(maxBytes: number): EncodingCache {
  const cachedEntries = new Map<string, { chunk: Tensors; bytes: number }>()
  let total = 0
  const take = (key: string) => {
    const cachedEntry = cachedEntries.get(key)
    cachedEntries.delete(key)
    total -= cachedEntry?.bytes ?? 0
    return cachedEntry?.chunk
  }
  return {
    keep(features, chunk) {
      const bytes = Object.values(chunk).reduce(
        (sum, tensor) => sum + floatsOf(tensor).byteLength,
        0,
      )
      const key = featuresKey(features)
      take(key)
      if (bytes > maxBytes) return
      for (const oldest of cachedEntries.keys()) {
        if (total + bytes <= maxBytes) break
        take(oldest)
      }
      cachedEntries.set(key, { chunk, bytes })
      total += bytes
    },
    take: (features) => (cachedEntries.size > 0 ? take(featuresKey(features)) : undefined),
  }
}

function featuresKey({ data }: MelFeatures): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return createHash('sha1').update(bytes).digest('base64')
}

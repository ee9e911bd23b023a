type ObjectResponse = { output: { Body?: { destroy?(): void } } }

/**
 * Returns the response to a request if it begins within `ms`; rejects with a `TimeoutError`
 * otherwise. A response that begins too late is not read, so its body is destroyed.
 */
export async function withTimeout<T extends { output: object }>(
  response: Promise<T>,
  ms: number,
): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new Error(`no response within ${ms} ms`)
    late.reject(Object.assign(error, { name: 'TimeoutError' }))
    response.then(({ output }: ObjectResponse) => output.Body?.destroy?.()).catch(() => {})
  }, ms)
  try {
    return await Promise.race([response, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

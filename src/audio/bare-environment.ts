/** Variables that programs need to start: where shared libraries lie, and Windows' own folder. */
const KEPT_VARIABLES = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot']

/** The environment of processes that meet bytes of customers: no setting, no key, no secret. */
export function bareEnvironment(): Record<string, string> {
  return Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

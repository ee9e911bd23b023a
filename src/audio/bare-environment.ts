/**
 * Variables that programs need to start: the paths of shared libraries, and Windows' own folder.
 */
const KEPT_VARIABLES = ['LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot']

/** Returns the environment of processes that handle customer data: no settings, keys or secrets. */
export function bareEnvironment(): Record<string, string> {
  return Object.fromEntries(
    KEPT_VARIABLES.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Returns the seconds of processor time that this process has used so far. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

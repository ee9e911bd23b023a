/** The id of the remote engine, by which requests may name it. */
export const REMOTE = 'remote'

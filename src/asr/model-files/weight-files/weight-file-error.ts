/** A file that is not what its name says, or ends early: the message is for users. */
export class WeightFileError extends Error {
  override name = 'WeightFileError'
}

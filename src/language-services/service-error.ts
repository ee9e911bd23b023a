type ServiceErrorOptions = { status?: number; exception?: string; cause?: unknown }

/** Why a language service gave no response; the message may reach the user. */
export class ServiceError extends Error {
  readonly status: number
  readonly exception: string

  constructor(
    message: string,
    { status = 502, exception = 'ServiceFailed', cause }: ServiceErrorOptions = {},
  ) {
    super(message, { cause })
    this.status = status
    this.exception = exception
  }
}

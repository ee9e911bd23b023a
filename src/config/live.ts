import type { EnvReader } from './env-reader.ts'

/** Limits and timers of live sessions. Seconds, unless the name says otherwise. */
export type LiveConfig = {
  /** The number of sessions of an account that have not ended. */
  maxPerAccount: number
  /**
   * The number of sessions that the machine accepts; undefined = as many as fit by measurement. 0 =
   * none.
   */
  slots: number | undefined
  connectTimeout: number
  resumeWindow: number
  maxSeconds: number
  /** 0 = no limit. */
  idleTimeout: number
  tokenGrace: number
  /** Shorter gaps between voiced frames do not count as silence. */
  vadHangover: number
  partialIntervalMs: number
  maxBacklog: number
  maxQueuedMessages: number
  maxStoredMessages: number
  /**
   * Bytes of messages stored for a client that does not fetch them; an account may have four times
   * as many.
   */
  maxQueuedBytes: number
  /** Bytes of a session's log; three quarters of them for messages that can be left out. */
  maxLogBytes: number
  /** Bytes of messages stored in the result. */
  maxStoredBytes: number
  maxFrameBytes: number
  /** The size of the first frame of a resumed connection. */
  resumeFrameBytes: number
  /** How far back a resumed connection may repeat audio that has already arrived. */
  resumeDedupe: number
}

const MIB = 1024 * 1024

/** Reads the settings of live sessions. */
export function readLive(read: EnvReader): LiveConfig {
  return {
    maxPerAccount: read.integer('MAX_LIVE_SESSIONS', 30, { min: 1 }),
    slots: read.optionalInteger('LIVE_SLOTS'),
    connectTimeout: read.integer('LIVE_CONNECT_TIMEOUT_S', 300, { min: 1 }),
    resumeWindow: read.integer('LIVE_RESUME_WINDOW_S', 120, { min: 1 }),
    maxSeconds: read.integer('LIVE_MAX_S', 10_800, { min: 1 }),
    idleTimeout: read.integer('LIVE_IDLE_TIMEOUT_S', 0),
    tokenGrace: read.integer('LIVE_TOKEN_GRACE_S', 60),
    vadHangover: read.decimal('LIVE_VAD_HANGOVER_S', 0.25, { min: 0, max: 5 }),
    partialIntervalMs: read.integer('LIVE_PARTIAL_INTERVAL_MS', 300, { min: 50 }),
    maxBacklog: read.integer('LIVE_MAX_BACKLOG_S', 600, { min: 1 }),
    maxQueuedMessages: read.integer('LIVE_MAX_QUEUED_MESSAGES', 10_000, { min: 1 }),
    maxStoredMessages: read.integer('LIVE_MAX_STORED_MESSAGES', 50_000, { min: 1 }),
    maxQueuedBytes: read.integer('LIVE_MAX_QUEUED_BYTES', 16 * MIB, { min: 1 }),
    maxLogBytes: read.integer('LIVE_MAX_LOG_BYTES', 256 * MIB, { min: 1 }),
    maxStoredBytes: read.integer('LIVE_MAX_STORED_BYTES', 64 * MIB, { min: 1 }),
    maxFrameBytes: read.integer('LIVE_MAX_FRAME_BYTES', 1024 * 1024, { min: 1024 }),
    resumeFrameBytes: read.integer('LIVE_RESUME_FRAME_BYTES', 32 * 1024 * 1024, { min: 1024 }),
    resumeDedupe: read.integer('RESUME_DEDUPE_S', 30),
  }
}

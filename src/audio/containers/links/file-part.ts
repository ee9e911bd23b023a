/** A part of a file in bytes, and the number of links of an Ogg chain in it. */
export type FilePart = { start: number; end: number; links?: number }

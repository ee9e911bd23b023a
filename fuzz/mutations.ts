import fc from 'fast-check'

type Edit = (bytes: Buffer) => Buffer

/** Bytes that parsers of forms, JSON and headers stumble over. */
const tokens = [
  ...[
    '\r\n',
    '\n',
    '\r',
    '\0',
    '--',
    '--b',
    '--b--',
    '\r\n--b',
    '"',
    '\\',
    ';',
    '=',
    "''",
    '%',
    '%00',
  ],
  ...['{', '}', '[', ']', ',', ':', '-0', '1e999', '0.1e-999', 'null', 'true', '\ud800', '\ufeff'],
  ...[
    '\\ud800',
    '\\u0000',
    '"__proto__":',
    '"constructor":',
    '../',
    "filename*=utf-8''%ff",
    '\x80\xff',
  ],
  ...['RIFF', 'RF64', 'WAVE', 'fmt ', 'data', 'ds64', 'LIST', 'x'.repeat(5000)],
].map((token) => Buffer.from(token))

/** Numbers at the edges of sizes, counts and rates. */
const edges = [
  0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff,
]

const place = fc.nat(0xffff)

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(place, fc.nat(255)).map(
    ([at, value]): Edit =>
      (bytes) => {
        if (bytes.length > 0) bytes[at % bytes.length] = value
        return bytes
      },
  ),
  fc.tuple(place, fc.nat(7)).map(
    ([at, bit]): Edit =>
      (bytes) => {
        if (bytes.length > 0) bytes[at % bytes.length]! ^= 1 << bit
        return bytes
      },
  ),
  fc.tuple(place, fc.constantFrom(...edges), fc.constantFrom(2, 4)).map(
    ([at, value, size]): Edit =>
      (bytes) => {
        if (bytes.length < size) return bytes
        bytes.writeUIntLE(value % 2 ** (8 * size), at % (bytes.length - size + 1), size)
        return bytes
      },
  ),
  fc.tuple(place, fc.constantFrom(...tokens)).map(
    ([at, token]): Edit =>
      (bytes) => {
        const cut = at % (bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, cut), token, bytes.subarray(cut)])
      },
  ),
  fc.tuple(place, fc.nat(40)).map(
    ([at, length]): Edit =>
      (bytes) => {
        const cut = at % (bytes.length + 1)
        return Buffer.concat([bytes.subarray(0, cut), bytes.subarray(cut + length)])
      },
  ),
  fc.tuple(place, fc.nat(400), fc.integer({ min: 2, max: 20 })).map(
    ([at, length, times]): Edit =>
      (bytes) => {
        const cut = at % (bytes.length + 1)
        const repeated = Array<Buffer>(times).fill(bytes.subarray(cut, cut + length))
        return Buffer.concat([bytes.subarray(0, cut), ...repeated, bytes.subarray(cut + length)])
      },
  ),
  place.map(
    (at): Edit =>
      (bytes) =>
        bytes.subarray(0, at % (bytes.length + 1)),
  ),
)

/** One of `seeds` after up to ten edits of its bytes. */
export function mutated(seeds: readonly Uint8Array[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 10 }))
    .map(([seed, edits]) => edits.reduce<Buffer>((bytes, apply) => apply(bytes), Buffer.from(seed)))
}

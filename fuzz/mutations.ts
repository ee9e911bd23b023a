import fc from 'fast-check'

/** Damages bytes in one place; `at` and `value` are any numbers below 65,536. */
type Edit = (bytes: Buffer, at: number, value: number) => Buffer

/** Bytes that are special in forms, JSON, queries and headers. */
const tokens = [
  ...['\r\n', '\n', '\r', '\0', '--', '--b', '--b--', '\r\n--b', '"', '\\', ';', '=', "''"],
  ...['%', '%00', '%5B', '&', '[', ']', '[]', '{', '}', ',', ':', '+', '.', '~', '*', '<', '>'],
  ...['-0', '1e999', '0.1e-999', 'null', 'true', '\ud800', '\ufeff', '\\ud800', '\\u0000'],
  ...['"__proto__":', '"constructor":', '../', '/', "filename*=utf-8''%ff", '\x80\xff'],
  ...['RIFF', 'RF64', 'WAVE', 'fmt ', 'data', 'ds64', 'LIST', 'x'.repeat(5000)],
].map((token) => Buffer.from(token))

/** Replacements of JSON values. */
const jsonValues = [
  ...['null', 'true', '0', '-1', '1.5', '1e308', '9007199254740993', '4294967296', '""', '"x"'],
  ...['[]', '{}', '[[]]', '[null]', '{"__proto__":1}', '"__proto__"', '"../../x"', '"\\u0000"'],
].map((value) => Buffer.from(value))
const JSON_VALUE =
  /-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*"|true|false|null|\[[^[\]]*\]|\{[^{}]*\}|(?<=[:,[] ?)[[{]/g
/** The longest input that is parsed as JSON for mutations. */
const MAX_JSON = 20_000

/** Numbers at the edges of sizes, counts and rates. */
const edges = [
  0, 1, 2, 7, 8, 9, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff,
]

const edits: Edit[] = [
  function setByte(bytes, at, value) {
    if (bytes.length > 0) bytes[at % bytes.length] = value % 256
    return bytes
  },
  function flipBit(bytes, at, value) {
    if (bytes.length > 0) bytes[at % bytes.length]! ^= 1 << (value % 8)
    return bytes
  },
  function setNumber(bytes, at, value) {
    const size = value % 2 === 0 ? 2 : 4
    if (bytes.length < size) return bytes
    const number = edges[(value >> 1) % edges.length]! % 2 ** (8 * size)
    bytes.writeUIntLE(number, at % (bytes.length - size + 1), size)
    return bytes
  },
  function insertToken(bytes, at, value) {
    return replaced(bytes, { from: at, length: 0, by: tokens[value % tokens.length]! })
  },
  function removeSome(bytes, at, value) {
    return replaced(bytes, { from: at, length: value % 41, by: Buffer.alloc(0) })
  },
  function repeatSome(bytes, at, value) {
    const cut = at % (bytes.length + 1)
    const part = bytes.subarray(cut, cut + (value % 401))
    const times = 1 + (value % 19)
    return replaced(bytes, { from: cut, length: 0, by: Buffer.concat(Array(times).fill(part)) })
  },
  function cutOff(bytes, at) {
    return bytes.subarray(0, at % (bytes.length + 1))
  },
  function replaceValue(bytes, at, value) {
    if (bytes.length > MAX_JSON) return bytes
    const found = [...bytes.toString('latin1').matchAll(JSON_VALUE)]
    const match = found[at % found.length]
    if (!match) return bytes
    const by = jsonValues[value % jsonValues.length]!
    return replaced(bytes, { from: match.index, length: match[0].length, by })
  },
]

type Replacement = { from: number; length: number; by: Uint8Array }

function replaced(bytes: Buffer, { from, length, by }: Replacement): Buffer {
  const cut = from % (bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, cut), by, bytes.subarray(cut + length)])
}

const number = fc.nat(0xffff)

/** One of `seeds` after up to ten edits of its bytes. */
export function mutated(seeds: readonly Uint8Array[]): fc.Arbitrary<Buffer> {
  const edit = fc.tuple(fc.constantFrom(...edits), number, number)
  return fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 10 }))
    .map(([seed, chosen]) =>
      chosen.reduce<Buffer>((bytes, [apply, at, value]) => {
        return apply(bytes, at, value)
      }, Buffer.from(seed)),
    )
}

/** A copy of `bytes` after one to eight edits, of which one may join it to a part of `other`. */
export function edited(bytes: Uint8Array, other: Uint8Array, random: () => number): Buffer {
  const any = (limit: number) => Math.floor(random() * limit)
  let copy = Buffer.from(bytes)
  if (any(8) === 0) {
    const part = other.subarray(any(other.length + 1))
    copy = Buffer.concat([copy.subarray(0, any(copy.length + 1)), part])
  }
  for (let left = 1 + any(1 + any(8)); left > 0; left--) {
    copy = Buffer.from(edits[any(edits.length)]!(copy, any(0x10000), any(0x10000)))
  }
  return copy
}

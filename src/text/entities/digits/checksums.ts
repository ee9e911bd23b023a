/**
 * Returns whether digits end in the check digit of payment cards (ISO/IEC 7812-1, the Luhn
 * algorithm).
 */
export function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (i % 2 === 0 ? 1 : 2)
    return total + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

/**
 * Returns whether nine digits can be a social security number: the area is not 000, 666 or 900 to
 * 999, and neither group nor serial is all zeros.
 */
export function isSsn(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d\d(?!0000)\d{4}$/.test(digits)
}

/**
 * Returns whether ten digits, or eleven after a 1, have the shape of the North American Numbering
 * Plan.
 */
export function isNorthAmericanPhone(digits: string): boolean {
  return /^1?[2-9]\d\d[2-9]\d{6}$/.test(digits)
}

/**
 * Returns whether capitals and digits are an international bank account number (ISO 13616,
 * remainder 1 modulo 97).
 */
export function isIban(code: string): boolean {
  if (!/^[A-Z]{2}\d\d[A-Z\d]{11,30}$/.test(code)) return false
  const turned = code.slice(4) + code.slice(0, 4)
  const digits = turned.replace(/[A-Z]/g, (letter) => String(Number.parseInt(letter, 36)))
  return BigInt(digits) % 97n === 1n
}

const VIN_WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2]
const VIN_LETTERS = 'ABCDEFGH.JKLMN.P.R..STUVWXYZ'

/**
 * Returns whether 17 capitals and digits are a vehicle identification number with its check digit
 * (49 CFR 565.15).
 */
export function isVin(code: string): boolean {
  if (!/^[A-HJ-NPR-Z\d]{17}$/.test(code)) return false
  const sum = [...code].reduce((total, sign, i) => total + vinValue(sign) * VIN_WEIGHTS[i]!, 0)
  return 'X'.padStart(11, '0123456789')[sum % 11] === code[8]
}

function vinValue(sign: string): number {
  if (/\d/.test(sign)) return Number(sign)
  const place = VIN_LETTERS.indexOf(sign)
  return place < 18 ? (place % 9) + 1 : place - 18
}

/**
 * Returns whether capitals and digits have the shape of a Medicare beneficiary identifier (CMS, 11
 * characters).
 */
export function isMedicareIdentifier(code: string): boolean {
  const letter = '[AC-HJKMNP-RT-Y]'
  const letterOrDigit = `(?:${letter}|\\d)`
  return new RegExp(
    `^[1-9]${letter}${letterOrDigit}\\d${letter}${letterOrDigit}\\d${letter}{2}\\d\\d$`,
  ).test(code)
}

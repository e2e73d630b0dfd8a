import { InvalidArgumentError } from 'commander';

/**
 * Readers for option values. Each answers a bad value with what is wanted; commander puts the
 * option's name and what was given in front of it.
 */
type Reader = (text: string) => number;

const wholeNumber = /^[0-9]+$/;
const decimalNumber = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$/i;

/** A whole number of at least `least`. */
export function whole(least: number): Reader {
  return (text) => {
    const value = Number(text);
    if (!wholeNumber.test(text) || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`Wanted a whole number of at least ${least}.`);
    }
    return value;
  };
}

/** A number above 0. */
export function positive(text: string): number {
  return decimal(text, (value) => value > 0, 'a number above 0');
}

/** A number of at least 0. */
export function nonNegative(text: string): number {
  return decimal(text, (value) => value >= 0, 'a number of at least 0');
}

/** Any number. */
export function finite(text: string): number {
  return decimal(text, () => true, 'a number');
}

/** A number strictly between 0 and 1. */
export function fraction(text: string): number {
  return decimal(text, (value) => value > 0 && value < 1, 'a number between 0 and 1');
}

function decimal(text: string, accepts: (value: number) => boolean, wanted: string): number {
  const value = Number(text);
  if (!decimalNumber.test(text) || !Number.isFinite(value) || !accepts(value)) {
    throw new InvalidArgumentError(`Wanted ${wanted}.`);
  }
  return value;
}

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  K: 2 ** 10,
  M: 2 ** 20,
  G: 2 ** 30,
  T: 2 ** 40,
};

/** A number of bytes: 500M, 2G, 1.5G. */
export function bytes(text: string): number {
  const [, digits, unit] = /^([0-9]+(?:\.[0-9]+)?)([KMGT]?)(?:i?B)?$/i.exec(text) ?? [];
  const value = Number(digits) * byteUnits[(unit ?? '').toUpperCase()];
  if (value >= 1) return Math.floor(value);
  throw new InvalidArgumentError('Wanted an amount of memory (500M, 2G).');
}

export function port(text: string): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('Wanted a whole number from 0 to 65535.');
}

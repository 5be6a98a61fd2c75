/**
 * Codes that people compare and type: eight of 28 characters, 38 bits. Without vowels and look-alike
 * characters.
 */
import { randomInt } from 'node:crypto';

const ALPHABET = '23456789BCDFGHJKMNPQRSTVWXYZ';
const LENGTH = 8;

export const newCode = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** The display form, such as `WDJB-MJHT`. */
export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** The stored form of a typed code. */
export const typedCode = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .slice(0, 2 * LENGTH);

/** Codes that people compare and type: eight of 28 characters, 38 bits. Without vowels and without characters that look alike. */
import { randomInt } from 'node:crypto';

const ALPHABET = '23456789BCDFGHJKMNPQRSTVWXYZ';
const LENGTH = 8;

export const newCode = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** `WDJB-MJHT`, as it is shown. */
export const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** The code as it is stored, from what a person typed. */
export const typedCode = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .slice(0, 2 * LENGTH);

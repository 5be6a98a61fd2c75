/** Limits per page. */

/** After decompression. */
export const PAGE_BYTES = 5 * 1024 * 1024;
/** Of text; leaves room for title and address under the limit of a result. */
export const PAGE_CHARACTERS = 95_000;
export const ADDRESS_CHARACTERS = 2_048;
export const REDIRECTS = 5;
/** From the first DNS query to the last byte, including redirects. */
export const FETCH_MS = 15_000;
/** For converting the page to text. */
export const READ_MS = 10_000;
export const READERS = 4;
export const READER_KILOBYTES = 1024 * 1024;

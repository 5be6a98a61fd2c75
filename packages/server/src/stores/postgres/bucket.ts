/**
 * The bucket of an owner. It is part of every key, so that a database can be split by buckets without
 * rewriting keys. Must never change: CRC-32 is the same everywhere.
 */
const BUCKETS = 4096;

/** `owner` in its stored form. */
export const bucketOf = (owner: string): number => Bun.hash.crc32(owner) % BUCKETS;

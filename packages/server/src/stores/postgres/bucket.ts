/**
 * The bucket of an owner. It is part of every key, so that a database can be split by buckets without rewriting keys.
 * Never changes: CRC-32 is the same everywhere.
 */
const BUCKETS = 4096;

/** `owner` as it is stored. */
export const bucketOf = (owner: string): number => Bun.hash.crc32(owner) % BUCKETS;

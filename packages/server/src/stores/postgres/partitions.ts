/** SQL that creates the hash partitions of a table. */
export const partitioned = (table: string, count: number): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `CREATE TABLE ${table}_${index} PARTITION OF ${table} FOR VALUES WITH (MODULUS ${count}, REMAINDER ${index});`,
  ).join('\n');

import { parseArgs } from 'node:util';
import { TABLES } from './tables/index.ts';

export type Options = {
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly out: string | null;
};

export const USAGE = `npm run bench -- [--quick] [--only TABLE[,TABLE…]] [--out FILE]

  --quick   fewer rows and rounds, no peers that need minutes: under a minute
  --only    just these tables: ${TABLES.map(({ name }) => name).join(', ')}
  --out     where the JSON goes, in place of bench/results/latest.json`;

/** Null where help is asked for. Throws where an option is wrong. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const only = values.only?.split(',') ?? [];
  for (const name of only)
    if (!TABLES.some((table) => table.name === name)) throw new Error(`there is no table ${name}`);
  return { quick: values.quick, only, out: values.out ?? null };
}

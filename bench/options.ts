import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { TABLES } from './tables/index.ts';

export type Options = {
  readonly quick: boolean;
  readonly only: readonly string[];
  readonly out: string | null;
  /** folder of a second checkout */
  readonly against: string | null;
};

export const USAGE = `npm run bench -- [--quick] [--only TABLE[,TABLE…]] [--out FILE] [--against FOLDER]

  --quick   fewer rows and rounds, no peers that need minutes: under a minute
  --only    just these tables: ${TABLES.map(({ name }) => name).join(', ')}
  --out     where the JSON goes, in place of bench/results/latest.json
  --against a second checkout (npm ci done there) that is measured beside this one, without peers: figures of both and ratios`;

/** Null if help is requested. Throws if an option is invalid. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      out: { type: 'string' },
      against: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  const only = values.only?.split(',') ?? [];
  for (const name of only)
    if (!TABLES.some((table) => table.name === name)) throw new Error(`there is no table ${name}`);
  const against = values.against === undefined ? null : resolve(values.against);
  if (against !== null && !existsSync(join(against, 'bench/measure-job.ts')))
    throw new Error(`${against} is not a checkout of Parlance`);
  return { quick: values.quick, only, out: values.out ?? null, against };
}

/** Everything the server serves, described: its dialects in the order of the index, then the server itself. */
import { DIALECTS } from '../dialects/index.ts';
import type { Description } from '../dialects/shared/description.ts';
import type { Dialect } from '../dialects/shared/dialect.ts';
import { description as server } from './server.ts';

export type Described = Description & { readonly name: string };

export async function descriptionsOf(
  dialects: readonly Pick<Dialect, 'name' | 'describe'>[],
): Promise<readonly Described[]> {
  const described = dialects.map(async ({ name, describe }) =>
    describe ? [{ name, ...(await describe()) }] : [],
  );
  return [...(await Promise.all(described)).flat(), { name: 'server', ...server }];
}

export const DESCRIPTIONS: readonly Described[] = await descriptionsOf(DIALECTS);

import type { DialectContext } from '../shared/dialect.ts';

/** A model as the API lists it. `created` is the start of the server, in seconds. */
export const modelObject = (
  about: Pick<DialectContext['about'], 'model' | 'provider'>,
  id: string,
  created: number,
) => ({
  id,
  object: 'model' as const,
  created,
  owned_by: id === about.model ? about.provider : 'parlance',
});

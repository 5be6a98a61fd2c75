/** Ids of calls may come from other vendors and be too long for this one. The same id is always shortened in the same way. */
export const shortId = (id: string, longest: number): string =>
  id.length <= longest ? id : `call_${Bun.hash(id).toString(36)}`;

/** Ids of calls come from other vendors, too, and may be longer than this one takes. The same id is always cut alike. */
export const shortId = (id: string, longest: number): string =>
  id.length <= longest ? id : `call_${Bun.hash(id).toString(36)}`;

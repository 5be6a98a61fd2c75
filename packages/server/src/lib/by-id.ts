/** Concatenates two lists; an item of the second replaces one of the first with the same id. */
export const byId = <Item extends { readonly id: string }>(
  first: readonly Item[],
  second: readonly Item[],
): Item[] => [...new Map([...first, ...second].map((item) => [item.id, item])).values()];

/** The user of a subscriber on a presence channel. */
export type Member = { readonly user_id: string; readonly user_info?: unknown };

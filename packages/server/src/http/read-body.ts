/** The seam between transports, which bound what a peer can send, and dialects, which know who may send how much. */

/** `anonymous`: anyone who can connect, such as the sender of a login. */
export type BodySender = 'anonymous' | 'identified';

/**
 * Reads the whole body of a request. `most` lowers the limit that the sender has.
 *
 * Throws `too_large`, `too_slow`, `overloaded` if too much is being received at once, and `invalid` if the connection
 * ends first.
 *
 * @example const bytes = await readBody(request, 'identified');
 */
export type ReadBody = (request: Request, sender: BodySender, most?: number) => Promise<Uint8Array>;

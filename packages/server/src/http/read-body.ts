/** Interface between transports, which limit what a peer can send, and dialects, which know the sender. */

/** `anonymous`: anyone who can connect, such as the sender of a login. */
export type BodySender = 'anonymous' | 'identified';

/**
 * Reads the whole body of a request. `most` lowers the sender's limit.
 *
 * Throws `too_large`, `too_slow`, `overloaded` if too many bytes are being received, and `invalid` if the
 * connection ends early.
 * @example const bytes = await readBody(request, 'identified');
 */
export type ReadBody = (request: Request, sender: BodySender, max?: number) => Promise<Uint8Array>;

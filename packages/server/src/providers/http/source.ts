/** The two ends of a response body: the socket and the reader. */

/** Flow control of the socket. `abandon` closes it. */
export type Source = { pause(): void; resume(): void; abandon(): void };

export type End = { readonly kind: 'complete' } | { readonly kind: 'broken'; readonly thrown: unknown };

/** Receives decompressed bytes, and then how the body ended. */
export type Sink = { bytes(piece: Buffer): void; end(end: End): void };

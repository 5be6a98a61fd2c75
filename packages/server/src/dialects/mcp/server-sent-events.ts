export const encodeMessage = (message: object): string =>
  `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/** An event without data: a stream that breaks off is resumed from it. */
export const encodeMark = (id: string): string => `id: ${id}\ndata: \n\n`;

/** Opens a stream: the response is not sent before its first bytes. */
export const OPEN = ': open\n\n';

export const encodeMessage = (message: object): string =>
  `event: message\ndata: ${JSON.stringify(message)}\n\n`;

/** An event without data, from which an interrupted stream can be resumed. */
export const encodeMark = (id: string): string => `id: ${id}\ndata: \n\n`;

/** Opens a stream: the response headers are sent with the first bytes. */
export const OPEN = ': open\n\n';

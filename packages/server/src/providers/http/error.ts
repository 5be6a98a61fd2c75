/** Why a response is missing or incomplete. The code is shown to users next to a message. */
export type HttpErrorCode =
  /** the server closed the connection before the response was complete */
  | 'CONNECTION_LOST'
  /** the server does not speak HTTP/1.1, or breaks its rules */
  | 'BAD_ANSWER'
  /** the content coding is unknown */
  | 'BAD_ENCODING'
  | 'BAD_CERTIFICATE'
  | 'BAD_ADDRESS';

export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: HttpErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const badResponse = (message: string): HttpError => new HttpError('BAD_ANSWER', message);

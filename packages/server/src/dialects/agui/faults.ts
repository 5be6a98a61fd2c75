/** Faults before a stream: an HTTP status and `{message, code}`. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../shared/http-status.ts';
import { retryText } from '../shared/retry.ts';

export type ErrorBody = { readonly message: string; readonly code: string };

export const statusOf = ({ code }: Fault): ContentfulStatusCode => HTTP_STATUS[code];

export const errorBody = (fault: Fault): ErrorBody => ({ message: retryText(fault), code: fault.code });

const CODES: Readonly<Record<number, FaultCode>> = {
  400: 'invalid',
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not_found',
  413: 'too_large',
  429: 'limited',
  503: 'overloaded',
};

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (status: number, message: string): ErrorBody => ({
  message,
  code: CODES[status] ?? (status < 500 ? 'invalid' : 'internal'),
});

/** Faults as one plain sentence: clients show the body as the error message. */
import type { Fault, FaultCode } from '@parlance/protocol';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { HTTP_STATUS } from '../shared/http-status.ts';
import { retryText } from '../shared/retry.ts';

export const statusOf = ({ code }: { readonly code: FaultCode }): ContentfulStatusCode => HTTP_STATUS[code];

export const sentenceOf = (fault: Fault): string => sentence(retryText(fault));

/** The origin is not allowed, the endpoint does not exist, or an error occurred. */
export const refusal = (_status: number, reason: string): string => sentence(reason);

const sentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

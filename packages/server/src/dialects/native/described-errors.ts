import type { Answers } from '../shared/description.ts';
import { NativeError } from './response-schemas.ts';

const ERRORS = {
  400: 'What was sent does not fit; the message names the field',
  401: 'No token, or a bad one',
  403: 'The role lacks the permission',
  404: 'There is no such thing, or it is someone else’s',
  409: 'It cannot be done at this moment',
  429: 'Too often; Retry-After says for how many seconds',
} as const;

export const nativeErrors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: NativeError }]));

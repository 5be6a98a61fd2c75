import type { Answers } from '../shared/description.ts';
import { NativeError } from './response-schemas.ts';

const ERRORS = {
  400: 'Invalid request; the message names the field',
  401: 'Missing or invalid token',
  403: 'The role lacks the permission',
  404: 'Not found, or it belongs to another user',
  409: 'Not possible in the current state',
  429: 'Rate limited; Retry-After is in seconds',
  502: 'The model API is unreachable',
} as const;

export const nativeErrors = (...codes: (keyof typeof ERRORS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: ERRORS[code], schema: NativeError }]));

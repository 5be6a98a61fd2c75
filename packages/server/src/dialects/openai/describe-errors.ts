import type { Answers } from '../shared/description.ts';
import { ErrorAnswer } from './response-schemas.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid field',
  401: 'Missing or invalid key',
  403: 'The role lacks the permission',
  404: 'Unknown model, response or conversation',
  409: 'The turn was cancelled',
  413: 'The body is too large',
  429: 'Too many requests to this server or to the model',
  502: 'The model call failed',
  503: 'The server is overloaded or shutting down',
};

export const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: REASONS[code] ?? '', schema: ErrorAnswer }]));

export const SESSION = { 'x-parlance-session': 'the session of the answer' };

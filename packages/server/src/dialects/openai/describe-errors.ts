import type { Answers } from '../shared/description.ts';
import { ErrorAnswer } from './response-schemas.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'A field is missing or wrong',
  401: 'The key is missing or not good',
  403: 'The caller may not do this',
  404: 'There is no such model, response or conversation',
  409: 'The turn was cancelled',
  413: 'The body is too large',
  429: 'Too many requests, here or at the model',
  502: 'The model has failed',
  503: 'The server is overloaded or shutting down',
};

export const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: REASONS[code] ?? '', schema: ErrorAnswer }]));

export const SESSION = { 'x-parlance-session': 'the session that the answer is in' };

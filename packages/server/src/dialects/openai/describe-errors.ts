import type { Answers } from '../kit/description.ts';
import { ErrorAnswer } from './response-schemas.ts';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Missing or invalid field, or the model API refused the request',
  401: 'Missing or invalid key, here or at the model API',
  402: 'The quota at the model API is used up',
  403: 'The role, or the key of the model API, lacks the permission',
  404: 'Unknown model, response or conversation',
  409: 'The turn was cancelled',
  413: 'The body is too large',
  422: 'The model API refused the request',
  429: 'Too many requests to this server or to the model',
  502: 'The model API is unavailable',
  503: 'The server is overloaded or shutting down',
};

export const errors = (...codes: (keyof typeof REASONS)[]): Answers =>
  Object.fromEntries(codes.map((code) => [code, { description: REASONS[code] ?? '', schema: ErrorAnswer }]));

export const SESSION = { 'x-parlance-session': 'the session of the answer' };

/** The official client against a test server. */
import OpenAI from 'openai';

export { failure, sessionOf } from '../exchange.ts';

export type ClientOptions = {
  readonly key?: string;
  readonly session?: string;
  readonly base?: string;
  readonly maxRetries?: number;
};

export const openaiClient = (http: string, options: ClientOptions = {}): OpenAI =>
  new OpenAI({
    baseURL: `${http}${options.base ?? '/openai/v1'}`,
    apiKey: options.key ?? 'any word',
    maxRetries: options.maxRetries ?? 0,
    defaultHeaders: options.session === undefined ? {} : { 'X-Parlance-Session': options.session },
  });

/** The official client against a test server. */
import Anthropic from '@anthropic-ai/sdk';

export { failure, sessionOf } from '../exchange.ts';

export type ClientOptions = {
  /** sent as `x-api-key` */
  readonly key?: string;
  /** sent as a bearer instead */
  readonly token?: string;
  readonly session?: string;
  readonly base?: string;
  readonly maxRetries?: number;
};

export const anthropicClient = (http: string, options: ClientOptions = {}): Anthropic =>
  new Anthropic({
    baseURL: `${http}${options.base ?? '/anthropic'}`,
    ...(options.token === undefined
      ? { apiKey: options.key ?? 'any word' }
      : { apiKey: null, authToken: options.token }),
    maxRetries: options.maxRetries ?? 0,
    defaultHeaders: options.session === undefined ? {} : { 'X-Parlance-Session': options.session },
  });

type Content = { readonly content: readonly { readonly type: string }[] };

/** The text of a message. */
export const textIn = ({ content }: Content): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('');

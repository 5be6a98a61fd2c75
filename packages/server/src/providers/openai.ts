/** What both OpenAI wires have in common. */
import type { Prompt } from '../core/ports/provider.ts';
import type { WireRequest } from './wire.ts';

/** Whom we talk to, for the sentences. The key is here to be kept out of them. */
export type Vendor = {
  readonly host: string;
  readonly key: string;
  readonly keyName: string;
  readonly model: string;
};

export type OpenaiOptions = {
  /** empty where the server wants none */
  readonly key: string;
  /** what the operator calls the key, for the sentence that asks to check it; OPENAI_API_KEY unless told */
  readonly keyName?: string;
  /** up to the version: `https://api.openai.com/v1` */
  readonly baseUrl: string;
  readonly model: string;
};

export const vendorOf = ({ key, baseUrl, keyName = 'OPENAI_API_KEY', model }: OpenaiOptions): Vendor => ({
  key,
  host: URL.parse(baseUrl)?.host || "The model's server",
  keyName,
  model,
});

export const openaiRequest = (
  { key, baseUrl }: OpenaiOptions,
  path: 'responses' | 'chat/completions',
  body: object,
): WireRequest => ({
  url: `${baseUrl.replace(/\/+$/, '')}/${path}`,
  headers: key ? { authorization: `Bearer ${key}` } : {},
  body,
});

/** The same for all requests of a conversation: they reach the machine that has its beginning in the cache. */
export const cacheKey = ({ instructions, items }: Prompt): string =>
  `parlance-${Bun.hash(`${instructions}\n${JSON.stringify(items[0] ?? null)}`).toString(36)}`;

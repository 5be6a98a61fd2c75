/** Shared parts of both OpenAI APIs. */
import type { Prompt } from '../core/ports/provider.ts';
import type { VendorName } from './faults.ts';
import type { ApiRequest } from './model-api.ts';

/** The addressed server, for error messages. The key is here to be redacted. */
export type Vendor = {
  readonly host: string;
  readonly key: string;
  readonly keyName: string;
  readonly isKeyWithheld?: boolean | undefined;
  readonly variable: string;
  readonly model: string;
};

export type OpenaiOptions = {
  /** empty if the server needs none */
  readonly key: string;
  /** what error messages call the key; OPENAI_API_KEY by default */
  readonly keyName?: string | undefined;
  /** the stored key was entered for another address */
  readonly isKeyWithheld?: boolean | undefined;
  /** another vendor with the same API; messages name the host instead */
  readonly vendor?: VendorName | undefined;
  /** up to the version: `https://api.openai.com/v1` */
  readonly baseUrl: string;
  readonly model: string;
};

export const vendorOf = ({
  key,
  baseUrl,
  vendor: { variable } = { name: 'OpenAI', variable: 'OPENAI_API_KEY' },
  keyName = variable,
  isKeyWithheld,
  model,
}: OpenaiOptions): Vendor => ({
  key,
  isKeyWithheld,
  host: URL.parse(baseUrl)?.host || "The model's server",
  keyName,
  variable,
  model,
});

export const openaiRequest = (
  { key, baseUrl }: OpenaiOptions,
  path: 'responses' | 'chat/completions',
  body: object,
): ApiRequest => ({
  url: `${baseUrl.replace(/\/+$/, '')}/${path}`,
  headers: key ? { authorization: `Bearer ${key}` } : {},
  body,
});

/** The same for all requests of a conversation: routes them to the machine that has its prefix cached. */
export const cacheKey = ({ instructions, items }: Prompt): string =>
  `parlance-${Bun.hash(`${instructions}\n${JSON.stringify(items[0] ?? null)}`).toString(36)}`;

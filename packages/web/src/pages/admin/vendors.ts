/** What the form for the model offers, and the settings that a choice becomes. */
import type { Json } from '@parlance/protocol';
import type { ModelQuestion, Settings } from '@parlance/sdk';

export type Choice = 'compatible' | 'openai' | 'anthropic' | 'google' | 'offline';
type Vendor = ModelQuestion['provider'];

export const CHOICES: Readonly<Record<Choice, string>> = {
  compatible: 'Ollama, vLLM or another OpenAI-compatible server',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  offline: 'Offline demo model',
};

export const vendorOf = (choice: Exclude<Choice, 'offline'>): Vendor =>
  choice === 'compatible' ? 'openai' : choice;

export type Fields = {
  readonly choice: Choice;
  readonly address: string;
  /** empty: the stored one stays */
  readonly key: string;
  readonly model: string;
};

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

/** What is stored, or in use if nothing is. */
export function fieldsOf({ stored, model }: Settings): Fields {
  const provider = text(stored.provider) || model.provider;
  const address = text(stored[`${provider}BaseUrl`]);
  const known = (Object.keys(CHOICES) as Choice[]).find((name) => name === provider) ?? 'offline';
  const choice = known === 'openai' && address !== '' ? 'compatible' : known;
  const name = text(stored.model) || (model.provider === 'offline' ? '' : model.model);
  return { choice, address, key: '', model: choice === 'offline' ? '' : name };
}

/** An address or model that is left empty is removed, so that the vendor's own is used. */
export function valuesOf({ choice, address, key, model }: Fields): Record<string, Json> {
  if (choice === 'offline') return { provider: 'offline', model: null };
  const vendor = vendorOf(choice);
  return {
    provider: vendor,
    model: model.trim() || null,
    [`${vendor}BaseUrl`]: choice === 'openai' ? null : address.trim() || null,
    ...(key.trim() !== '' && { [`${vendor}Key`]: key.trim() }),
  };
}

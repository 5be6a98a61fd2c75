/** Selects the model and its address. */
import { ConfigError } from './error.ts';

export type ModelChoice =
  | { readonly provider: 'offline' }
  | {
      readonly provider: 'openai';
      readonly api: 'responses' | 'chat';
      readonly model: string;
      readonly key: string | undefined;
      readonly baseUrl: string;
    }
  | {
      readonly provider: 'anthropic' | 'google';
      readonly model: string;
      readonly key: string | undefined;
      readonly baseUrl: string;
    };

export type ModelSettings = {
  readonly provider?: 'openai' | 'anthropic' | 'google' | 'offline';
  readonly model?: string;
  readonly openaiModel?: string;
  readonly openaiKey?: string;
  readonly openaiBaseUrl?: string;
  readonly openaiApi?: 'responses' | 'chat';
  readonly anthropicKey?: string;
  readonly anthropicBaseUrl?: string;
  readonly googleKey?: string;
  readonly googleBaseUrl?: string;
};

export const MODEL_SETTINGS = [
  'provider',
  'model',
  'openaiModel',
  'openaiKey',
  'openaiBaseUrl',
  'openaiApi',
  'anthropicKey',
  'anthropicBaseUrl',
  'googleKey',
  'googleBaseUrl',
] as const satisfies (keyof ModelSettings)[];

export type Vendor = 'openai' | 'anthropic' | 'google';

const OPENAI = 'https://api.openai.com/v1';
const ANTHROPIC = 'https://api.anthropic.com';
const GOOGLE = 'https://generativelanguage.googleapis.com';

export const VENDOR_ADDRESS: Readonly<Record<Vendor, string>> = {
  openai: OPENAI,
  anthropic: ANTHROPIC,
  google: GOOGLE,
};

/** Throws `ConfigError` if the vendor's own address is used without a key. */
export function chooseModel(settings: ModelSettings): ModelChoice {
  const { model } = settings;
  switch (settings.provider ?? byModel(model) ?? byKey(settings)) {
    case 'offline':
      return { provider: 'offline' };
    case 'openai': {
      const { openaiKey: key, openaiBaseUrl, openaiApi } = settings;
      requireKey('OPENAI_API_KEY', key, openaiBaseUrl);
      const api =
        openaiApi ?? (openaiBaseUrl === undefined || openaiBaseUrl === OPENAI ? 'responses' : 'chat');
      const name = model ?? settings.openaiModel ?? 'gpt-4o-mini';
      return { provider: 'openai', api, model: name, key, baseUrl: openaiBaseUrl ?? OPENAI };
    }
    case 'anthropic': {
      const { anthropicKey: key, anthropicBaseUrl } = settings;
      requireKey('ANTHROPIC_API_KEY', key, anthropicBaseUrl);
      return {
        provider: 'anthropic',
        model: model ?? 'claude-opus-4-7',
        key,
        baseUrl: anthropicBaseUrl ?? ANTHROPIC,
      };
    }
    case 'google': {
      const { googleKey: key, googleBaseUrl } = settings;
      requireKey('GOOGLE_API_KEY', key, googleBaseUrl);
      return {
        provider: 'google',
        model: model ?? 'gemini-2.5-flash',
        key,
        baseUrl: googleBaseUrl ?? GOOGLE,
      };
    }
  }
}

function byModel(model: string | undefined) {
  if (model === undefined) return undefined;
  if (model === 'offline') return 'offline';
  if (model.startsWith('claude-')) return 'anthropic';
  return model.startsWith('gemini-') ? 'google' : 'openai';
}

/** Uses the first vendor with a key or an address; without any, the offline model. */
function byKey(settings: ModelSettings) {
  if (settings.openaiKey ?? settings.openaiBaseUrl) return 'openai';
  if (settings.anthropicKey ?? settings.anthropicBaseUrl) return 'anthropic';
  return (settings.googleKey ?? settings.googleBaseUrl) ? 'google' : 'offline';
}

/** A self-hosted server may need no key. */
function requireKey(name: string, key: string | undefined, baseUrl: string | undefined): void {
  if (key === undefined && baseUrl === undefined) {
    throw new ConfigError(`${name} is needed for this provider or model; PROVIDER=offline needs none`);
  }
}

/** Unknown models get a small limit; CONTEXT_LIMIT overrides it. */
const LIMITS: readonly (readonly [RegExp, number])[] = [
  [/^gpt-5/, 400_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^(o1|o3|o4)/, 200_000],
  [/^claude-/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** Undefined for a model that is not in the list. */
export const knownContextLimit = (model: string): number | undefined =>
  LIMITS.find(([name]) => name.test(model))?.[1];

export const contextLimitOf = (model: string): number => knownContextLimit(model) ?? 128_000;

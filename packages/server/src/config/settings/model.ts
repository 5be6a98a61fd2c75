/** Model APIs. */
import {
  addressSetting,
  addressVariable,
  keySetting,
  VENDOR_NAMES,
  VENDORS,
  type Vendor,
} from '../../providers/vendors.ts';
import { aliases, oneOf, text, tokensByModel, wholeNumber } from '../values.ts';
import type { Setting } from './setting.ts';
import { vendorAddress, vendorKey } from './vendor.ts';

const PREFIXES = VENDOR_NAMES.flatMap((vendor) => {
  const { prefix } = VENDORS[vendor];
  return prefix === undefined ? [] : [`${prefix}… means ${vendor}`];
}).join(', ');

const COMPATIBLE: Partial<Record<Vendor, string>> = {
  openai: 'any compatible server: Ollama, vLLM, llama.cpp',
};

type VendorSettings = { readonly [Key in `${Vendor}Key`]: ReturnType<typeof vendorKey> } & {
  readonly [Key in `${Vendor}BaseUrl`]: ReturnType<typeof vendorAddress>;
};

export const MODEL = {
  provider: {
    env: ['PROVIDER'],
    flag: '--provider',
    argument: 'NAME',
    fallback: undefined,
    fallbackText: 'by the model, else by the configured key, else offline',
    schema: () => oneOf([...VENDOR_NAMES, 'offline'] as [Vendor, ...Vendor[], 'offline']),
    description: `the vendor of the model: ${VENDOR_NAMES.join(', ')} or offline`,
  },
  model: {
    env: ['MODEL'],
    flag: '--model',
    argument: 'NAME',
    fallback: undefined,
    fallbackText: "the provider's own",
    schema: text,
    description: `the model that answers; ${PREFIXES}, any other the first vendor with a key, else openai`,
  },
  openaiModel: {
    env: ['OPENAI_MODEL'],
    flag: null,
    argument: '',
    fallback: undefined,
    schema: text,
    description: 'the model if the provider is openai and MODEL is not set',
  },
  openaiApi: {
    env: ['OPENAI_API'],
    flag: null,
    argument: '',
    fallback: undefined,
    fallbackText: "responses at the vendor's own address, chat at any other",
    schema: () => oneOf(['responses', 'chat']),
    description: 'which API of openai is used: responses or chat',
  },
  ...(Object.fromEntries(
    VENDOR_NAMES.flatMap((vendor): [string, Setting][] => [
      [keySetting(vendor), vendorKey(VENDORS[vendor].variables, vendor)],
      [addressSetting(vendor), vendorAddress([addressVariable(vendor)], vendor, COMPATIBLE[vendor])],
    ]),
  ) as VendorSettings),
  modelAliases: {
    env: ['MODEL_ALIASES'],
    flag: '--model-aliases',
    argument: 'FROM=TO,…',
    fallback: [],
    fallbackText: 'none',
    schema: aliases,
    description:
      'names that clients of vendors use for a model or an agent of this server; one may end in *: claude-*=gpt-5.5',
  },
  http: {
    env: ['PARLANCE_HTTP'],
    flag: '--http',
    argument: 'CLIENT',
    fallback: 'socket',
    schema: () => oneOf(['socket', 'fetch']),
    description:
      'the HTTP client for model APIs: socket needs less CPU; fetch is the one of the runtime, if a model API cannot be reached otherwise',
  },
  providerIdle: {
    env: ['PARLANCE_PROVIDER_IDLE'],
    flag: '--provider-idle',
    argument: 'MS',
    fallback: 60_000,
    schema: () => wholeNumber(100, 3_600_000),
    description: 'timeout for a silent model',
  },
  contextLimit: {
    env: ['CONTEXT_LIMIT'],
    flag: '--context-limit',
    argument: 'TOKENS',
    fallback: undefined,
    fallbackText: "the model's",
    schema: () => wholeNumber(1_000, 100_000_000),
    description: 'context window of the model in tokens, if it is unknown',
  },
  contextLimits: {
    env: ['CONTEXT_LIMITS'],
    flag: '--context-limits',
    argument: 'NAME=TOKENS,…',
    fallback: {},
    fallbackText: 'those of the catalogue',
    schema: tokensByModel,
    description: 'context windows of models by name, before all others',
  },
} as const satisfies Record<string, Setting>;

/**
 * The vendors of models. A vendor that speaks one of the APIs below is one entry here: settings, environment
 * variables, `parlance init` and `doctor`, the console and the documentation follow from it. The first one with a
 * key answers if nothing else is chosen.
 */
import type { Vendor as VendorView } from '@parlance/protocol/api';

/** How a vendor is asked. */
export type VendorApi = 'openai-responses' | 'openai-chat' | 'anthropic' | 'google';

type VendorEntry = {
  readonly label: string;
  /** what the console says below the label */
  readonly hint: string;
  readonly api: VendorApi;
  /** base URL */
  readonly address: string;
  /** the model if none is chosen */
  readonly model: string;
  /** environment variables of the key; the first one is named in messages */
  readonly variables: readonly [string, ...string[]];
  /** models whose names begin so are of this vendor. Not for open models: other servers have them as well. */
  readonly prefix?: string;
};

const ENTRIES = {
  openai: {
    label: 'OpenAI',
    hint: 'GPT models, with an API key',
    api: 'openai-responses',
    address: 'https://api.openai.com/v1',
    model: 'gpt-4o-mini',
    variables: ['OPENAI_API_KEY'],
  },
  anthropic: {
    label: 'Anthropic',
    hint: 'Claude models, with an API key',
    api: 'anthropic',
    address: 'https://api.anthropic.com',
    model: 'claude-opus-4-7',
    variables: ['ANTHROPIC_API_KEY'],
    prefix: 'claude-',
  },
  google: {
    label: 'Google',
    hint: 'Gemini models, with an API key',
    api: 'google',
    address: 'https://generativelanguage.googleapis.com',
    model: 'gemini-2.5-flash',
    variables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    prefix: 'gemini-',
  },
  openrouter: {
    label: 'OpenRouter',
    hint: 'Models of many vendors, with one API key',
    api: 'openai-chat',
    address: 'https://openrouter.ai/api/v1',
    model: 'openrouter/auto',
    variables: ['OPENROUTER_API_KEY'],
  },
} as const satisfies Readonly<Record<string, VendorEntry>>;

export type Vendor = keyof typeof ENTRIES;

export const VENDORS: Readonly<Record<Vendor, VendorEntry>> = ENTRIES;

export const VENDOR_NAMES = Object.keys(VENDORS) as Vendor[];

export const isVendor = (name: string): name is Vendor => Object.hasOwn(VENDORS, name);

/** Names of the settings and variables that every vendor has. */
export const keySetting = <Name extends Vendor>(vendor: Name) => `${vendor}Key` as const;
export const addressSetting = <Name extends Vendor>(vendor: Name) => `${vendor}BaseUrl` as const;
export const addressVariable = (vendor: Vendor): string => `${vendor.toUpperCase()}_BASE_URL`;

/** What clients show of the vendors. */
export const vendorViews = (): VendorView[] =>
  VENDOR_NAMES.map((name) => {
    const { label, hint, address, model, variables } = VENDORS[name];
    return { name, label, hint, address, model, variables: [...variables] };
  });

/** The vendors as Markdown, for the documentation. */
export const vendorsMarkdown = (): string[] => [
  '| provider | vendor | selected by | needs | default model |',
  '|---|---|---|---|---|',
  '| `offline` | built in | default | nothing | |',
  ...VENDOR_NAMES.map((name) => {
    const { label, prefix, variables, model } = VENDORS[name];
    const named = prefix === undefined ? '' : `, a model \`${prefix}…\``;
    const keys = variables.map((variable) => `\`${variable}\``).join(' or ');
    return `| \`${name}\` | ${label} | \`PROVIDER=${name}\`${named}, or a key | ${keys}, or \`${addressVariable(name)}\` of your own server | \`${model}\` |`;
  }),
];

/**
 * The vendors of models. A vendor that speaks one of the APIs below is one entry here, and one that the AI SDK has a
 * package for is one line: settings, environment variables, `parlance init` and `doctor`, the console and the
 * documentation follow from it. The first one with a key answers if nothing else is chosen.
 *
 * The name of a vendor is not the name of a model of Ollama: `NAME:TAG` would mean this vendor.
 */
import type { Vendor as VendorView } from '@parlance/protocol/api';

/** How a vendor is asked. */
export type VendorApi = 'openai-responses' | 'openai-chat' | 'anthropic' | 'google' | 'ai-sdk';

type VendorEntry = {
  readonly label: string;
  /** what the console says below the label */
  readonly hint: string;
  readonly api: VendorApi;
  /** base URL; `{VARIABLE}` is filled by the package of the AI SDK, from the environment */
  readonly address: string;
  /** the model if none is chosen */
  readonly model: string;
  /** environment variables of the key; the first one is named in messages */
  readonly variables: readonly [string, ...string[]];
  /** models whose names begin so are of this vendor. Not for open models: other servers have them as well. */
  readonly prefix?: string;
  /** the npm package that asks it, if the API is `ai-sdk`. It is installed by the operator and loaded when it is used. */
  readonly package?: string;
  /** its models are listed as OpenAI lists them; otherwise those of the catalogue are offered */
  readonly listsModels?: boolean;
  /** without a key, its package finds credentials in the environment */
  readonly findsCredentials?: boolean;
  /** for each request, under the vendor's name in the AI SDK */
  readonly requestOptions?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
};

/** A vendor that a package of the AI SDK asks. */
const aiSdk = (
  label: string,
  name: `@ai-sdk/${string}`,
  variable: string,
  address: string,
  model: string,
  more: Pick<VendorEntry, 'listsModels' | 'findsCredentials' | 'requestOptions'> = {},
): VendorEntry => ({
  label,
  hint: `With an API key and the package ${name}`,
  api: 'ai-sdk',
  address,
  model,
  variables: [variable],
  package: name,
  ...more,
});

const LISTS = { listsModels: true };

// biome-ignore format: a vendor is a line
const AI_SDK = {
  mistralai: aiSdk('Mistral AI', '@ai-sdk/mistral', 'MISTRAL_API_KEY', 'https://api.mistral.ai/v1', 'mistral-large-latest', LISTS),
  groq: aiSdk('Groq', '@ai-sdk/groq', 'GROQ_API_KEY', 'https://api.groq.com/openai/v1', 'openai/gpt-oss-120b', LISTS),
  xai: aiSdk('xAI', '@ai-sdk/xai', 'XAI_API_KEY', 'https://api.x.ai/v1', 'grok-4', { ...LISTS, requestOptions: { xai: { store: false } } }),
  deepseek: aiSdk('DeepSeek', '@ai-sdk/deepseek', 'DEEPSEEK_API_KEY', 'https://api.deepseek.com', 'deepseek-flash', LISTS),
  cohere: aiSdk('Cohere', '@ai-sdk/cohere', 'COHERE_API_KEY', 'https://api.cohere.com/v2', 'command-a-03-2025'),
  together: aiSdk('Together AI', '@ai-sdk/togetherai', 'TOGETHER_API_KEY', 'https://api.together.xyz/v1', 'openai/gpt-oss-120b', LISTS),
  fireworks: aiSdk('Fireworks', '@ai-sdk/fireworks', 'FIREWORKS_API_KEY', 'https://api.fireworks.ai/inference/v1', 'accounts/fireworks/models/gpt-oss-120b', LISTS),
  cerebras: aiSdk('Cerebras', '@ai-sdk/cerebras', 'CEREBRAS_API_KEY', 'https://api.cerebras.ai/v1', 'gpt-oss-120b', LISTS),
  perplexity: aiSdk('Perplexity', '@ai-sdk/perplexity', 'PERPLEXITY_API_KEY', 'https://api.perplexity.ai', 'sonar-pro'),
  azure: aiSdk('Azure OpenAI', '@ai-sdk/azure', 'AZURE_API_KEY', 'https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai', 'gpt-4o-mini', { requestOptions: { azure: { store: false } } }),
  bedrock: aiSdk('Amazon Bedrock', '@ai-sdk/amazon-bedrock', 'AWS_BEARER_TOKEN_BEDROCK', 'https://bedrock-runtime.{AWS_REGION}.amazonaws.com', 'openai.gpt-oss-120b-1:0', { findsCredentials: true }),
  vertex: aiSdk('Google Vertex AI', '@ai-sdk/google-vertex', 'GOOGLE_VERTEX_API_KEY', 'https://aiplatform.googleapis.com/v1/publishers/google', 'gemini-2.5-flash', { findsCredentials: true }),
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
  ...AI_SDK,
} as const satisfies Readonly<Record<string, VendorEntry>>;

export type Vendor = keyof typeof ENTRIES;

export const VENDORS: Readonly<Record<Vendor, VendorEntry>> = ENTRIES;

export const VENDOR_NAMES = Object.keys(VENDORS) as Vendor[];

export const isVendor = (name: string): name is Vendor => Object.hasOwn(VENDORS, name);

/** Names of the settings and variables that every vendor has. */
export const keySetting = <Name extends Vendor>(vendor: Name) => `${vendor}Key` as const;
export const addressSetting = <Name extends Vendor>(vendor: Name) => `${vendor}BaseUrl` as const;
export const addressVariable = (vendor: Vendor): string => `${vendor.toUpperCase()}_BASE_URL`;

/** Variables that the vendor's own address is made of. */
export const addressParts = (vendor: Vendor): string[] =>
  [...VENDORS[vendor].address.matchAll(/\{(\w+)\}/g)].map(([, variable = '']) => variable);

/** What clients show of the vendors. */
export const vendorViews = (): VendorView[] =>
  VENDOR_NAMES.map((name) => {
    const { label, hint, address, model, variables, package: needed } = VENDORS[name];
    return {
      name,
      label,
      hint,
      address,
      model,
      variables: [...variables],
      ...(needed && { package: needed }),
    };
  });

/** The vendors as Markdown, for the documentation. */
export const vendorsMarkdown = (): string[] => [
  '| provider | vendor | selected by | needs | default model |',
  '|---|---|---|---|---|',
  '| `offline` | built in | default | nothing | |',
  ...VENDOR_NAMES.map((name) => {
    const { label, prefix, variables, model, findsCredentials, package: needed } = VENDORS[name];
    const named = prefix === undefined ? '' : `, a model \`${prefix}…\``;
    const code = (texts: readonly string[]) => texts.map((text) => `\`${text}\``);
    const parts = code(addressParts(name)).map((part) => ` and ${part}`);
    const keys = `${code(variables).join(' or ')}${parts.join('')}${findsCredentials ? ', or credentials in the environment' : ''}`;
    const installed = needed === undefined ? '' : `; the package \`${needed}\``;
    return `| \`${name}\` | ${label} | \`PROVIDER=${name}\`${named}, or a key | ${keys}, or \`${addressVariable(name)}\` of your own server${installed} | \`${model}\` |`;
  }),
];

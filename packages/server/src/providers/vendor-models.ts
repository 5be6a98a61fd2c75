/** Requests a vendor's list of models, which also tests the key and the address. */
import { Fault, isObject, parsedJson } from '@parlance/protocol';
import { knownModels } from './catalogue.ts';
import { VENDORS, type Vendor, type VendorApi } from './vendors.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4_000_000;
const MAX_MODELS = 2_000;

/** `address` is the base URL that answered. */
export type ModelListing = { readonly models: string[]; readonly address: string };

/**
 * Also tries the likely base URL if the address has an endpoint's path or lacks `/v1`. Throws `invalid` or
 * `provider_unavailable` with a message for the person who sets it up.
 */
export async function vendorModels(vendor: Vendor, access: VendorAccess): Promise<ModelListing> {
  const { address } = access;
  const { api, listsModels } = VENDORS[vendor];
  if (api === 'ai-sdk' && !listsModels) return { models: knownModels(vendor).map(({ id }) => id), address };
  const isOpenai = api === 'openai-chat' || api === 'openai-responses';
  const base = isOpenai ? address.replace(ENDPOINT, '') : address.replace(/\/+$/, '');
  const listing = async (tried: string) => ({
    models: await modelsAt(api, { ...access, address: tried }),
    address: tried,
  });
  if (!isOpenai || /\/v\d/.test(new URL(base).pathname)) return listing(base);
  const first = await attempted(listing(base));
  if (!(first instanceof Fault)) return first;
  if (first.code !== 'invalid') throw first;
  const second = await attempted(listing(`${base}/v1`));
  if (!(second instanceof Fault)) return second;
  throw first.message === noModelApi(access).message ? second : first;
}

const attempted = <Value>(work: Promise<Value>): Promise<Value | Fault> =>
  work.catch((thrown) => (thrown instanceof Fault ? thrown : Promise.reject(thrown)));

/** People paste the URL of an endpoint. */
const ENDPOINT = /\/*(\/(chat\/completions|completions|responses|models|embeddings))?\/*$/;

async function modelsAt(api: VendorApi, access: VendorAccess): Promise<string[]> {
  const response = await ask(requestTo(api, access), access);
  if (!response.ok) throw refusal(access, response);
  return modelsIn(await bodyOf(response, access), access);
}

function requestTo(api: VendorApi, { address, key }: VendorAccess): Request {
  switch (api) {
    case 'openai-chat':
    case 'openai-responses':
    case 'ai-sdk':
      return new Request(`${address}/models`, { headers: key ? { authorization: `Bearer ${key}` } : {} });
    case 'anthropic':
      return new Request(`${address.replace(/\/v1$/, '')}/v1/models?limit=1000`, {
        headers: { 'anthropic-version': '2023-06-01', ...(key ? { 'x-api-key': key } : {}) },
      });
    case 'google':
      return new Request(`${address.replace(/\/v1beta$/, '')}/v1beta/models?pageSize=1000`, {
        headers: key ? { 'x-goog-api-key': key } : {},
      });
  }
}

/** Redirects are not followed: they could carry the key to another host. */
async function ask(request: Request, access: VendorAccess): Promise<Response> {
  try {
    return await fetch(request, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw unreachable(access, cause);
  }
}

async function bodyOf(response: Response, access: VendorAccess): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw unreachable(access, cause);
  }
  if (bytes > MAX_BYTES) throw noModelApi(access);
  const body = parsedJson(new TextDecoder().decode(Buffer.concat(chunks)));
  if (body === undefined) throw noModelApi(access);
  return body;
}

/** OpenAI and Anthropic have `data` with `id`, Google has `models` with `name`, Together has only the list. */
function modelsIn(body: unknown, access: VendorAccess): string[] {
  const listed = isObject(body) ? (body.data ?? body.models) : body;
  if (!Array.isArray(listed)) throw noModelApi(access);
  const names = listed.slice(0, MAX_MODELS).flatMap((model) => {
    const name = isObject(model) && generates(model) ? (model.id ?? model.name) : null;
    return typeof name === 'string' && name.length <= 200 ? [name.replace(/^models\//, '')] : [];
  });
  // `model-2` is before `model-10`.
  return [...new Set(names)].sort(new Intl.Collator('en', { numeric: true }).compare);
}

/** Google also lists models for embeddings, images and the like. */
const generates = ({ supportedGenerationMethods: methods }: Record<string, unknown>): boolean =>
  !Array.isArray(methods) || methods.includes('generateContent');

// Explains to the person who sets up a model API why it cannot be used, and what to do.

export type VendorAccess = {
  readonly address: string;
  readonly key: string | undefined;
  /** why the stored key is not used, and what to do */
  readonly keyProblem?: string | null;
};

const hostOf = ({ address }: VendorAccess): string => new URL(address).host;

/** The request failed without an answer. */
function unreachable(access: VendorAccess, cause: unknown): Fault {
  const message = reasonOf(access, cause) ?? `${hostOf(access)} cannot be reached. Check the address.`;
  return new Fault('provider_unavailable', message, { cause });
}

function reasonOf(access: VendorAccess, cause: unknown): string | null {
  const host = hostOf(access);
  if (!(cause instanceof Error)) return null;
  if (cause.name === 'TimeoutError')
    return `${host} did not answer in time. Check the address, or try again.`;
  const code = 'code' in cause ? String(cause.code) : '';
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing listens at ${host}. Start the model server, or check the address and its port.`;
    case 'ENOTFOUND':
      return `There is no host named ${new URL(access.address).hostname}. Check the address.`;
    case 'EPROTO':
      return `${host} does not use https. Try ${access.address.replace(/^https:/, 'http:')}.`;
    case 'ECONNRESET':
      return access.address.startsWith('http:')
        ? `${host} closed the connection. If it uses TLS, the address starts with https://.`
        : `${host} closed the connection. Check the address.`;
    default:
      return /CERT|SELF_SIGNED|ISSUER/.test(code)
        ? `The certificate of ${host} is not trusted. Start the server with NODE_EXTRA_CA_CERTS set to the file of its authority.`
        : null;
  }
}

const MAX_LOCATION_LENGTH = 200;

/** The answer is an error or a redirect. */
function refusal(access: VendorAccess, { status, headers }: Response): Fault {
  const host = hostOf(access);
  if (status === 401 || status === 403) return new Fault('invalid', keyRefusal(access, host, status));
  if (status === 404 || status === 405) return noModelApi(access);
  const target = URL.parse(headers.get('location') ?? '', access.address);
  if (status >= 300 && status < 400 && target)
    return new Fault(
      'invalid',
      `${host} redirects to ${`${target.origin}${target.pathname}`.slice(0, MAX_LOCATION_LENGTH)}, which is not followed. Enter the address that it leads to.`,
    );
  return new Fault('provider_unavailable', `${host} answered with ${status}. Try again when it is ready.`);
}

function keyRefusal({ key, keyProblem }: VendorAccess, host: string, status: number): string {
  if (key !== undefined)
    return `${host} refused the API key (${status}). Check that it is complete and still valid.`;
  return keyProblem
    ? `${host} needs an API key, but ${keyProblem}.`
    : `${host} needs an API key. Enter it and try again.`;
}

const noModelApi = (access: VendorAccess): Fault =>
  new Fault(
    'invalid',
    `There is no list of models at this address of ${hostOf(access)}. Check the path: most servers use /v1.`,
  );

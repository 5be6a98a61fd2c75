/** Requests a vendor's list of models, which also tests the key and the address. */
import { Fault, isObject } from '@parlance/protocol';
import { noModelApi, refusal, unreachable, type VendorAccess } from './vendor-faults.ts';

export type { VendorAccess } from './vendor-faults.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4_000_000;
const MAX_MODELS = 2_000;

export type Vendor = 'openai' | 'anthropic' | 'google';
/** `address` is the base URL that answered. */
export type ModelListing = { readonly models: string[]; readonly address: string };

/**
 * Also tries the likely base URL if the address has an endpoint's path or lacks `/v1`. Throws `invalid` or
 * `provider_unavailable` with a message for the person who sets it up.
 */
export async function vendorModels(vendor: Vendor, access: VendorAccess): Promise<ModelListing> {
  const { address } = access;
  const base = vendor === 'openai' ? address.replace(ENDPOINT, '') : address.replace(/\/+$/, '');
  const listing = async (tried: string) => ({
    models: await modelsAt(vendor, { ...access, address: tried }),
    address: tried,
  });
  if (vendor !== 'openai' || /\/v\d/.test(new URL(base).pathname)) return listing(base);
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

async function modelsAt(vendor: Vendor, access: VendorAccess): Promise<string[]> {
  const response = await ask(requestTo(vendor, access), access);
  if (!response.ok) throw refusal(access, response);
  return modelsIn(await bodyOf(response, access), access);
}

function requestTo(provider: Vendor, { address, key }: VendorAccess): Request {
  switch (provider) {
    case 'openai':
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
  try {
    return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  } catch {
    throw noModelApi(access);
  }
}

/** `model-2` is before `model-10`. */
const BY_NAME = new Intl.Collator('en', { numeric: true });

/** OpenAI and Anthropic have `data` with `id`, Google has `models` with `name`. */
function modelsIn(body: unknown, access: VendorAccess): string[] {
  const listed = isObject(body) ? (body.data ?? body.models) : null;
  if (!Array.isArray(listed)) throw noModelApi(access);
  const names = listed.slice(0, MAX_MODELS).flatMap((model) => {
    const name = isObject(model) && generates(model) ? (model.id ?? model.name) : null;
    return typeof name === 'string' && name.length <= 200 ? [name.replace(/^models\//, '')] : [];
  });
  return [...new Set(names)].sort(BY_NAME.compare);
}

/** Google also lists models for embeddings, images and the like. */
const generates = ({ supportedGenerationMethods: methods }: Record<string, unknown>): boolean =>
  !Array.isArray(methods) || methods.includes('generateContent');

/** Requests a vendor's list of models, which also tests the key and the address. */
import { Fault, isObject } from '@parlance/protocol';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4_000_000;
const MAX_MODELS = 2_000;

export type Vendor = 'openai' | 'anthropic' | 'google';
export type VendorAccess = { readonly address: string; readonly key: string | undefined };

/** Throws `invalid` or `provider_unavailable` with one sentence for the person who set it up. */
export async function vendorModels(vendor: Vendor, reached: VendorAccess): Promise<string[]> {
  const host = new URL(reached.address).host;
  const response = await ask(requestTo(vendor, reached), host);
  if (response.status === 401 || response.status === 403)
    throw new Fault('invalid', `${host} refused the key (${response.status}).`);
  if (response.status === 404)
    throw new Fault('invalid', `${host} has no list of models at this address. Is the path right?`);
  if (!response.ok) throw new Fault('provider_unavailable', `${host} answered with ${response.status}.`);
  return modelsIn(await bodyOf(response, host), host);
}

function requestTo(provider: Vendor, { address, key }: VendorAccess): Request {
  const base = address.replace(/\/+$/, '');
  switch (provider) {
    case 'openai':
      return new Request(`${base}/models`, { headers: key ? { authorization: `Bearer ${key}` } : {} });
    case 'anthropic':
      return new Request(`${base.replace(/\/v1$/, '')}/v1/models?limit=1000`, {
        headers: { 'anthropic-version': '2023-06-01', ...(key ? { 'x-api-key': key } : {}) },
      });
    case 'google':
      return new Request(`${base.replace(/\/v1beta$/, '')}/v1beta/models?pageSize=1000`, {
        headers: key ? { 'x-goog-api-key': key } : {},
      });
  }
}

/** Redirects are not followed: they could carry the key to another host. */
async function ask(request: Request, host: string): Promise<Response> {
  try {
    return await fetch(request, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (cause) {
    throw new Fault('provider_unavailable', `${host} cannot be reached.`, { cause });
  }
}

async function bodyOf(response: Response, host: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) break;
      chunks.push(chunk);
    }
    if (bytes <= MAX_BYTES) return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
  } catch (cause) {
    throw new Fault('provider_unavailable', `The answer of ${host} is not a list of models.`, { cause });
  }
  throw new Fault('provider_unavailable', `The answer of ${host} is too long.`);
}

/** OpenAI and Anthropic have `data` with `id`, Google has `models` with `name`. */
function modelsIn(body: unknown, host: string): string[] {
  const listed = isObject(body) ? (body.data ?? body.models) : null;
  if (!Array.isArray(listed))
    throw new Fault('invalid', `The answer of ${host} is not a list of models. Is the path right?`);
  const names = listed.slice(0, MAX_MODELS).flatMap((model) => {
    const name = isObject(model) ? (model.id ?? model.name) : null;
    return typeof name === 'string' && name.length <= 200 ? [name.replace(/^models\//, '')] : [];
  });
  return [...new Set(names)].sort();
}

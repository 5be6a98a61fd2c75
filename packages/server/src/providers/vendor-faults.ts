/** Explains to the person who sets up a model API why it cannot be used, and what to do. */
import { Fault } from '@parlance/protocol';

export type VendorAccess = {
  readonly address: string;
  readonly key: string | undefined;
  /** why the stored key is not used, and what to do */
  readonly keyProblem?: string | null;
};

const hostOf = ({ address }: VendorAccess): string => new URL(address).host;

/** The request failed without an answer. */
export function unreachable(access: VendorAccess, cause: unknown): Fault {
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
export function refusal(access: VendorAccess, { status, headers }: Response): Fault {
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

export const noModelApi = (access: VendorAccess): Fault =>
  new Fault(
    'invalid',
    `There is no list of models at this address of ${hostOf(access)}. Check the path: most servers use /v1.`,
  );

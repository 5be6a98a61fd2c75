/**
 * Pairing of browser extensions. The token is an API key that becomes valid when its code is approved: see
 * `keyring.ts`.
 */

import { randomInt } from 'node:crypto';
import { Fault, LOCAL, type Principal } from '@parlance/protocol';
import type { Log } from '../core/ports/telemetry.ts';
import { isExtension } from '../http/paired-origins.ts';
import type { PairingRequestView, Pairings, PairingView } from '../http/pairings.ts';
import { fixedWindowLimiter } from '../http/rate-limiter.ts';
import { idOf, matches, newKey } from './key-format.ts';
import { isWithin } from './keyring.ts';
import type { Pairing, PairingRequest, PairingStore } from './store.ts';
import { labelProblem } from './users.ts';

/** Lifetime of a code. */
const CODE_MS = 10 * 60_000;
/** Maximum number of requests per address, and of wrong codes per caller, within the lifetime of a code. */
const MAX_REQUESTS = 20;
const MAX_WRONG_CODES = 20;
/** Maximum number of pending requests in total. */
const MAX_WAITING = 1_000;
/** Limits the number of pairings per user. */
const PAIRINGS_PER_OWNER = 100;

export type PairingOptions = {
  readonly pairings: PairingStore;
  readonly log: Log;
  readonly now?: () => number;
};

export function openPairings({ pairings, log, now = Date.now }: PairingOptions): Pairings {
  const requested = fixedWindowLimiter({ limit: MAX_REQUESTS, windowMs: CODE_MS, now });
  const wrong = fixedWindowLimiter({ limit: MAX_WRONG_CODES, windowMs: CODE_MS, now });

  async function waitingWith(text: string, caller: Principal): Promise<PairingRequest> {
    const { allowed, resetMs } = wrong.take(caller.id);
    if (!allowed) throw new Fault('limited', 'Too many wrong codes.', { retryAfterMs: Math.max(1, resetMs) });
    const request = await pairings.requestWith(typedCode(text));
    if (!request || request.expiresAt <= now()) throw noCode();
    wrong.refund(caller.id);
    return request;
  }

  /** The request or pairing that the token belongs to. */
  async function holding(token: string): Promise<PairingRequest | Pairing> {
    const id = idOf(token);
    const found = id === null ? null : ((await pairings.find(id)) ?? (await pairings.findRequest(id)));
    const isExpired = found?.expiresAt != null && found.expiresAt <= now();
    if (!found || !matches(token, found.hash) || isExpired)
      throw new Fault('not_found', 'The request was denied or has expired, or the pairing was revoked.');
    return found;
  }

  return {
    async request({ origin, name }, address) {
      if (origin === null || !isExtension(origin))
        throw new Fault(
          'forbidden',
          'Only a browser extension can be paired: the origin must be that of an extension.',
        );
      const { allowed, resetMs } = requested.take(address);
      if (!allowed)
        throw new Fault('limited', 'Too many pairing requests.', { retryAfterMs: Math.max(1, resetMs) });
      const { id, text: token, hash } = newKey();
      const code = newCode();
      const at = now();
      const request = {
        id,
        hash,
        origin,
        name: checkedName(name),
        code,
        createdAt: at,
        expiresAt: at + CODE_MS,
      };
      if (!(await pairings.request(request, MAX_WAITING)))
        throw new Fault('limited', 'Too many pairing requests are pending.', { retryAfterMs: 60_000 });
      log.info({ pairing: id, origin }, 'pairing requested');
      return { code: shownCode(code), token, expiresAt: request.expiresAt };
    },

    async own(token) {
      const held = await holding(token);
      return 'code' in held
        ? { status: 'waiting', expiresAt: held.expiresAt }
        : { status: 'allowed', owner: held.owner ?? LOCAL.id };
    },

    async end(token) {
      const held = await holding(token);
      if ('code' in held) await pairings.takeRequest(held.id);
      else await pairings.remove(held.id);
      log.info({ pairing: held.id }, 'pairing ended by the extension');
    },

    find: async (code, caller) => requestView(await waitingWith(code, caller)),

    async allow(code, caller, key) {
      const { id } = await waitingWith(code, caller);
      const owner = ownerOf(caller);
      if ((await pairings.list(owner)).length >= PAIRINGS_PER_OWNER)
        throw new Fault(
          'forbidden',
          `There are already ${PAIRINGS_PER_OWNER} paired extensions: revoke one first.`,
        );
      const taken = await pairings.takeRequest(id);
      if (!taken) throw noCode();
      const { expiresAt: _, code: __, ...extension } = taken;
      const role = isWithin(caller.role, 'developer') ? caller.role : 'developer';
      const pairing: Pairing = {
        ...extension,
        owner,
        role,
        key: key?.id ?? null,
        allowedAt: now(),
        expiresAt: key?.expiresAt ?? null,
        lastUsedAt: null,
      };
      if (!(await pairings.add(pairing))) throw new Fault('forbidden', 'There is no such user or API key.');
      log.info({ pairing: id, origin: extension.origin, owner: caller.id }, 'extension paired');
      return pairingView(pairing);
    },

    async deny(code, caller) {
      const { id } = await waitingWith(code, caller);
      await pairings.takeRequest(id);
      log.info({ pairing: id, by: caller.id }, 'pairing denied');
    },

    waiting: async () =>
      (await pairings.requests()).filter(({ expiresAt }) => expiresAt > now()).map(requestView),

    list: async (caller) => (await pairings.list(caller && ownerOf(caller))).map(pairingView),

    async revoke(id, caller) {
      if (!(await pairings.remove(id, caller && ownerOf(caller))))
        throw new Fault('not_found', 'There is no such paired extension.');
      log.info({ pairing: id, by: caller?.id }, 'pairing revoked');
    },
  };
}

const noCode = (): Fault => new Fault('not_found', 'No pairing request has this code. It may have expired.');

const ownerOf = ({ id }: Principal): string | null => (id === LOCAL.id ? null : id);

function checkedName(name: string): string {
  const trimmed = name.trim();
  const problem = labelProblem(trimmed);
  if (problem !== null) throw new Fault('invalid', problem);
  return trimmed;
}

const requestView = ({ code, name, origin, createdAt, expiresAt }: PairingRequest): PairingRequestView => ({
  code: shownCode(code),
  name,
  origin,
  createdAt,
  expiresAt,
});

const pairingView = ({ hash: _, createdAt: __, owner, ...pairing }: Pairing): PairingView => ({
  ...pairing,
  owner: owner ?? LOCAL.id,
});

// Codes that people compare and type: eight of 28 characters, 38 bits. Without vowels and look-alike
// characters.

const ALPHABET = '23456789BCDFGHJKMNPQRSTVWXYZ';
const LENGTH = 8;

const newCode = (): string =>
  Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

/** The display form, such as `WDJB-MJHT`. */
const shownCode = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** The stored form of a typed code. */
const typedCode = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[\s-]/g, '')
    .slice(0, 2 * LENGTH);

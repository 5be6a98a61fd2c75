/** Pairing of browser extensions: the extension requests it, a logged-in user approves it. */
import { Fault, type Principal } from '@parlance/protocol';
import {
  type MadePairingRequest,
  NewPairing,
  type OwnPairing,
  type Pairing,
  PairingAnswer,
  PairingCode,
  type PairingList,
  type PairingRequest,
} from '@parlance/protocol/api';
import type { Hono } from 'hono';
import {
  OWN_PAIRING_PATH,
  PAIRINGS_PATH,
  type PairingRequestView,
  type PairingView,
} from '../../http/pairings.ts';
import { keyOf, principalOf, tokenOf } from '../../http/request-identity.ts';
import { parseBody } from '../kit/json-body.ts';
import { requestLimit } from '../kit/request-limit.ts';
import type { Context } from './context.ts';
import { body, checked } from './requests.ts';

export function pairingRoutes(api: Hono, ctx: Context): void {
  const pairings = () => ctx.administration.pairings;
  // A pattern ending in `/*` also matches the path without it.
  api.use('/v1/pairings/*', requestLimit(ctx));

  /** An extension must not approve others, and a key limited to some dialects must not create one for all. */
  async function person(request: Request): Promise<Principal> {
    const principal = await principalOf(ctx.authenticator, request);
    const isPaired = (await keyOf(ctx.authenticator, request))?.origin != null;
    if (isPaired || principal.dialects !== undefined)
      throw new Fault('forbidden', 'Only users manage paired extensions: log in.');
    return principal;
  }

  const own = (request: Request): string => {
    const token = tokenOf(request);
    if (token === null) throw new Fault('unauthenticated', 'The token of a pairing is required.');
    return token;
  };

  api.post(PAIRINGS_PATH, async (c) => {
    const parsed = parseBody(await ctx.readBody(c.req.raw, 'anonymous'));
    if ('problem' in parsed) throw new Fault('invalid', `The body ${parsed.problem}.`);
    const { name } = checked(NewPairing, parsed.value);
    const origin = c.req.header('origin') ?? null;
    const made = await pairings().request({ origin, name }, ctx.addressOf(c.req.raw));
    c.header('cache-control', 'no-store');
    return c.json({ ...made, expiresAt: time(made.expiresAt) } satisfies MadePairingRequest, 201);
  });

  api.get(OWN_PAIRING_PATH, async (c) => {
    const state = await pairings().own(own(c.req.raw));
    c.header('cache-control', 'no-store');
    const answer: OwnPairing =
      state.status === 'waiting' ? { ...state, expiresAt: time(state.expiresAt) } : state;
    return c.json(answer);
  });

  api.delete(OWN_PAIRING_PATH, async (c) => {
    await pairings().end(own(c.req.raw));
    return c.body(null, 204);
  });

  api.get(PAIRINGS_PATH, async (c) => {
    const caller = await person(c.req.raw);
    // With logins, users type the code that their own extension shows: a list would invite them to approve a
    // stranger's request.
    const waiting = ctx.authenticator.open ? await pairings().waiting() : [];
    const pairs = await pairings().list(caller);
    return c.json({
      pairings: pairs.map(pairingView),
      waiting: waiting.map(requestView),
    } satisfies PairingList);
  });

  api.post('/v1/pairings/find', async (c) => {
    const caller = await person(c.req.raw);
    const { code } = checked(PairingCode, await body(ctx, c.req.raw));
    return c.json(requestView(await pairings().find(code, caller)));
  });

  api.post('/v1/pairings/answer', async (c) => {
    const caller = await person(c.req.raw);
    const { code, allow } = checked(PairingAnswer, await body(ctx, c.req.raw));
    const key = await keyOf(ctx.authenticator, c.req.raw);
    if (allow) return c.json(pairingView(await pairings().allow(code, caller, key)));
    await pairings().deny(code, caller);
    return c.body(null, 204);
  });

  api.delete('/v1/pairings/:id', async (c) => {
    const caller = await person(c.req.raw);
    await pairings().revoke(c.req.param('id'), caller.role === 'admin' ? undefined : caller);
    return c.body(null, 204);
  });
}

const time = (at: number): string => new Date(at).toISOString();

const requestView = ({ createdAt, expiresAt, ...request }: PairingRequestView): PairingRequest => ({
  ...request,
  createdAt: time(createdAt),
  expiresAt: time(expiresAt),
});

const pairingView = ({ allowedAt, expiresAt, lastUsedAt, ...pairing }: PairingView): Pairing => ({
  ...pairing,
  expiresAt: expiresAt === null ? null : time(expiresAt),
  allowedAt: time(allowedAt),
  lastUsedAt: lastUsedAt === null ? null : time(lastUsedAt),
});

/** Sign-in of the console with a cookie, and invitations of new users. Other clients log in with `POST /v1/auth/login`. */
import { Fault } from '@parlance/protocol';
import {
  type Invitation,
  InvitationAnswer,
  InvitationToken,
  NewInvitation,
  NewSignIn,
} from '@parlance/protocol/api';
import type { InvitationView } from '../../http/invitations.ts';
import { requireLogin, tokenOf } from '../../http/request-identity.ts';
import {
  isFromOwnPage,
  isSignIn,
  partsOfSignIn,
  SIGN_IN_HEADER,
  signInCookie,
} from '../../http/sign-in-cookie.ts';
import { managesUsers } from './admin.ts';
import { type Call, endpoint } from './context.ts';
import { timeView } from './views.ts';

/** The sign-in of the request. */
function signInOfCall({ request }: Pick<Call, 'request'>): string {
  const token = tokenOf(request);
  if (token === null || !isSignIn(token))
    throw new Fault('forbidden', `This needs a sign-in: its cookie, and the header ${SIGN_IN_HEADER}.`);
  return token;
}

/** Pages of other origins must not sign a browser in, or a person would work in the account of somebody else. */
function fromOwnPage({ request }: { readonly request: Request }): void {
  const isBrowser = request.headers.has('origin') || request.headers.has('sec-fetch-site');
  if (!isBrowser || !isFromOwnPage(request))
    throw new Fault('forbidden', 'Only the console signs in with a cookie: use POST /v1/auth/login.');
}

const PATH = '/v1/auth/sign-in';
const SIGNED_IN = { security: 'token', allow: (call: Call) => void signInOfCall(call) } as const;

export const signInEndpoints = [
  endpoint({
    method: 'post',
    path: PATH,
    summary: 'Signs a browser in, for the console: sets a cookie that pages cannot read',
    security: 'nobody',
    examples: ({ owner }) => [{ body: { name: owner, password: 'a guess' } }],
    body: NewSignIn,
    allow: fromOwnPage,
    answers: {
      200: {
        description: `Signed in. Requests with the cookie need the header ${SIGN_IN_HEADER} with \`key\``,
        schema: 'SignedIn',
      },
    },
    errors: [400, 401, 403, 429],
    async handle({ c, request, body: { name, password } }, { authenticator, addressOf }) {
      const made = await authenticator.signIn(name, password, addressOf(request));
      const { id, key, principal } = made;
      c.header('set-cookie', signInCookie(request, id, made));
      c.header('cache-control', 'no-store');
      return { key: `${id}.${key}`, name: principal.id, role: principal.role };
    },
  }),
  endpoint({
    ...SIGNED_IN,
    method: 'post',
    path: `${PATH}/refresh`,
    summary: 'Prolongs the sign-in, and replaces the secret in the cookie if it is older than an hour',
    answers: { 204: { description: 'Prolonged' } },
    errors: [401, 403],
    async handle({ c, request }, { authenticator }) {
      const next = await authenticator.refresh(signInOfCall({ request }));
      if (next) c.header('set-cookie', signInCookie(request, next.id, next));
    },
  }),
  endpoint({
    ...SIGNED_IN,
    method: 'delete',
    path: PATH,
    summary: 'Signs the browser out, and closes its connections',
    revokesToken: true,
    answers: { 204: { description: 'The sign-in has ended' } },
    errors: [401, 403],
    async handle({ c, request }, { authenticator }) {
      const token = signInOfCall({ request });
      await authenticator.revoke(token);
      const parts = partsOfSignIn(token);
      if (parts) c.header('set-cookie', signInCookie(request, parts.id, null));
    },
  }),
  endpoint({
    ...SIGNED_IN,
    method: 'post',
    path: '/v1/auth/token',
    summary: 'A token for clients beside the console. It ends with the sign-in, or after 24 hours',
    answers: { 200: { description: 'The token', schema: 'Token' } },
    errors: [401, 403],
    async handle({ c, request }, { authenticator }) {
      const { token, principal } = await authenticator.tokenFor(signInOfCall({ request }));
      c.header('cache-control', 'no-store');
      return { access_token: token, token_type: 'bearer', role: principal.role };
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/auth/sign-out-everywhere',
    summary: 'Ends all sign-ins of the caller, revokes their tokens and closes their connections',
    security: 'token',
    revokesToken: true,
    answers: { 204: { description: 'Signed out everywhere' } },
    errors: [401, 403],
    allow: ({ request }, { authenticator }) => requireLogin(authenticator, request, 'sign a user out'),
    handle: ({ principal }, { administration }) => administration.accounts.logOut(principal.id),
  }),
];

const USERS = { security: 'token', allow: managesUsers } as const;

export const invitationEndpoints = [
  endpoint({
    ...USERS,
    method: 'get',
    path: '/v1/admin/invitations',
    summary: 'The invitations that nobody has accepted yet; for admins',
    answers: { 200: { description: 'In order of creation', schema: 'InvitationList' } },
    errors: [401, 403],
    handle: async (_, { administration }) => ({
      invitations: (await administration.invitations.list()).map(invitationView),
    }),
  }),
  endpoint({
    ...USERS,
    method: 'post',
    path: '/v1/admin/invitations',
    summary:
      'Invites a new user, who chooses the password; for admins. Replaces an earlier invitation of the name',
    examples: () => [{ body: { name: 'grace.hopper', role: 'developer', days: 7 } }],
    body: NewInvitation,
    answers: {
      201: { description: '`token` is the secret; it is not shown again', schema: 'MadeInvitation' },
    },
    errors: [400, 401, 403],
    async handle({ c, principal, body }, { administration }) {
      const { token, ...invitation } = await administration.invitations.add(principal.id, body);
      c.header('cache-control', 'no-store');
      return { ...invitationView(invitation), token };
    },
  }),
  endpoint({
    ...USERS,
    method: 'delete',
    path: '/v1/admin/invitations/{id}',
    summary: 'Revokes an invitation; for admins',
    examples: ({ key: id }) => [{ params: { id } }],
    answers: { 204: { description: 'Revoked' } },
    errors: [401, 403, 404],
    handle: ({ params }, { administration }) => administration.invitations.revoke(params.id),
  }),
  endpoint({
    method: 'post',
    path: '/v1/invitations/find',
    summary: 'The invitation with this token',
    security: 'nobody',
    examples: () => [{ body: { token: TOKEN } }],
    body: InvitationToken,
    answers: { 200: { description: 'It can be accepted', schema: 'Invitation' } },
    errors: [400, 404, 429],
    handle: async ({ body: { token } }, { administration }) =>
      invitationView(await administration.invitations.find(token)),
  }),
  endpoint({
    method: 'post',
    path: '/v1/invitations/accept',
    summary: 'Adds the invited user with a password',
    security: 'nobody',
    examples: () => [{ body: { token: TOKEN, password: 'a password' } }],
    body: InvitationAnswer,
    answers: { 200: { description: 'The user can log in. The invitation is used up', schema: 'Invitation' } },
    errors: [400, 404, 429],
    handle: async ({ body: { token, password } }, { administration }) =>
      invitationView(await administration.invitations.accept(token, password)),
  }),
];

const TOKEN = 'pli_0f8VqQ3mZr5TgY7u_…';

const invitationView = ({ createdAt, expiresAt, ...invitation }: InvitationView): Invitation => ({
  ...invitation,
  createdAt: timeView(createdAt),
  expiresAt: timeView(expiresAt),
});

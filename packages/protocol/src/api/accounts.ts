/** Users, passwords, sign-ins, invitations, API keys and pairings. */
import { z } from 'zod';
import { Role } from '../principals.ts';

/** The authenticator decides whether a password is acceptable; this only bounds its length. */
const Password = z.string().max(10_000);

export const NewUser = z.strictObject({ name: z.string().max(1_000), password: Password, role: Role });
export type NewUser = z.input<typeof NewUser>;

export const UserChange = z
  .strictObject({ password: Password.optional(), role: Role.optional() })
  .refine(({ password, role }) => password !== undefined || role !== undefined, 'give a password or a role');
export type UserChange = z.input<typeof UserChange>;

export const NewApiKey = z.strictObject({
  name: z.string().max(1_000),
  role: Role.optional().describe('the most that the key grants; default: the caller’s role'),
  dialects: z.array(z.string().max(100)).max(100).optional().describe('default: all'),
  administration: z
    .boolean()
    .optional()
    .describe('lets it manage users, passwords, origins and MCP servers, which otherwise needs a login'),
  expiresAt: z.iso.datetime({ offset: true }).optional().describe('default: never'),
});
export type NewApiKey = z.input<typeof NewApiKey>;

export const NewPairing = z.strictObject({
  name: z.string().max(1_000).describe('the name shown to the user who approves the pairing'),
});
export type NewPairing = z.input<typeof NewPairing>;

const Code = z.string().min(1).max(100).describe('as the extension shows it; case and hyphens do not matter');

export const PairingCode = z.strictObject({ code: Code });
export type PairingCode = z.input<typeof PairingCode>;

export const PairingAnswer = z.strictObject({ code: Code, allow: z.boolean() });
export type PairingAnswer = z.input<typeof PairingAnswer>;

export const NewPassword = z.strictObject({ old: Password, new: Password });
export type NewPassword = z.input<typeof NewPassword>;

export const User = z.object({
  name: z.string(),
  role: Role,
  createdAt: z.iso.datetime(),
  fromSettings: z
    .boolean()
    .describe('AUTH_USERS names the user: the next start sets password and role again'),
});
export type User = z.infer<typeof User>;

export const UserList = z.object({ users: z.array(User) });
export type UserList = z.infer<typeof UserList>;

export const ApiKey = z.object({
  id: z.string().describe('the public part of the key'),
  owner: z.string(),
  name: z.string(),
  role: Role.describe('the most that it grants; never more than its owner has'),
  dialects: z.array(z.string()).nullable().describe('the dialects it is limited to; null: all'),
  administration: z
    .boolean()
    .describe(
      'whether it may manage users, passwords, origins and MCP servers, which otherwise needs a login',
    ),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe('up to a minute late'),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const ApiKeyList = z.object({ keys: z.array(ApiKey) });
export type ApiKeyList = z.infer<typeof ApiKeyList>;

export const MadeApiKey = ApiKey.extend({ key: z.string() });
export type MadeApiKey = z.infer<typeof MadeApiKey>;

export const PairingRequest = z.object({
  code: z.string(),
  name: z.string().describe('as chosen by the extension'),
  origin: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
export type PairingRequest = z.infer<typeof PairingRequest>;

export const Pairing = z.object({
  id: z.string().describe('the public part of its token'),
  name: z.string(),
  origin: z.string().describe('the origin that may use the token'),
  owner: z.string().describe('the user that the extension acts as'),
  role: Role.describe('the most that it grants; never more than its owner has'),
  key: z
    .string()
    .nullable()
    .describe('the API key that approved it: the pairing ends with it; null if a login approved it'),
  allowedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable().describe('when that key expires'),
  lastUsedAt: z.iso.datetime().nullable().describe('up to a minute late'),
});
export type Pairing = z.infer<typeof Pairing>;

export const PairingList = z.object({
  pairings: z.array(Pairing),
  waiting: z.array(PairingRequest).describe('in open mode only: with a login, people type the code'),
});
export type PairingList = z.infer<typeof PairingList>;

export const MadePairingRequest = z.object({
  code: z.string(),
  token: z.string().describe('valid once the code is approved; not shown again'),
  expiresAt: z.iso.datetime(),
});
export type MadePairingRequest = z.infer<typeof MadePairingRequest>;

export const OwnPairing = z.discriminatedUnion('status', [
  z.object({ status: z.literal('waiting'), expiresAt: z.iso.datetime() }),
  z.object({ status: z.literal('allowed'), owner: z.string() }),
]);
export type OwnPairing = z.infer<typeof OwnPairing>;

/** The response to a login. */
export const Token = z.object({ access_token: z.string(), token_type: z.literal('bearer'), role: Role });
export type Token = z.infer<typeof Token>;

export const NewSignIn = z.strictObject({ name: z.string().max(1_000), password: Password });
export type NewSignIn = z.input<typeof NewSignIn>;

/** The response to a sign-in of the console. */
export const SignedIn = z.object({
  key: z.string().describe('for the header; useless without the cookie'),
  name: z.string(),
  role: Role,
});
export type SignedIn = z.infer<typeof SignedIn>;

export const NewInvitation = z.strictObject({
  name: z.string().max(1_000),
  role: Role,
  days: z.int().min(1).max(30).optional().describe('how long it is valid; default: 7'),
});
export type NewInvitation = z.input<typeof NewInvitation>;

export const Invitation = z.object({
  id: z.string().describe('the public part of its token'),
  name: z.string().describe('the name of the new user'),
  role: Role,
  createdBy: z.string().describe('the admin who made it: it ends if that user is no longer one'),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
});
export type Invitation = z.infer<typeof Invitation>;

export const InvitationList = z.object({ invitations: z.array(Invitation) });
export type InvitationList = z.infer<typeof InvitationList>;

export const MadeInvitation = Invitation.extend({ token: z.string() });
export type MadeInvitation = z.infer<typeof MadeInvitation>;

const TokenOfLink = z.string().min(1).max(200).describe('from the link');

export const InvitationToken = z.strictObject({ token: TokenOfLink });
export type InvitationToken = z.input<typeof InvitationToken>;

export const InvitationAnswer = z.strictObject({ token: TokenOfLink, password: Password });
export type InvitationAnswer = z.input<typeof InvitationAnswer>;

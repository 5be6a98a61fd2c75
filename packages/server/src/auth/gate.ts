/** Tokens and passwords become principals here. */
import { Fault, type Principal, PrincipalId, ROLE_PERMISSIONS } from '@parlance/protocol';
import type { Gate } from '../core/ports/gate.ts';
import type { User, UserStore } from '../core/ports/users.ts';
import { verifyPassword } from './passwords.ts';
import { CLOCK_TOLERANCE_SECONDS, openTokens } from './tokens.ts';
import { nameProblem } from './users.ts';

export type GateOptions = {
  readonly users: UserStore;
  readonly secret: Uint8Array<ArrayBuffer>;
  /** in open mode a caller without a token is the principal `local`; a bad token is refused all the same */
  readonly open: boolean;
  /** in milliseconds */
  readonly now?: () => number;
};

const principalOf = (user: User): Principal => ({
  id: PrincipalId.parse(user.name),
  role: user.role,
  permissions: ROLE_PERMISSIONS[user.role],
});

export function openGate({ users, secret, open, now }: GateOptions): Gate {
  const tokens = openTokens(secret, now);
  const find = async (name: string) => (nameProblem(name) === null ? users.find(name) : null);

  return {
    open,

    async verify(token) {
      const { name, issuedAt } = await tokens.verify(token);
      const user = await find(name);
      // A token outlives neither its user nor the user's removal: one who takes over the name is somebody else.
      if (user === null || issuedAt + CLOCK_TOLERANCE_SECONDS * 1000 < user.createdAt)
        throw new Fault('unauthenticated', 'The token is not valid or has expired.');
      return principalOf(user);
    },

    async login(name, password) {
      const user = await find(name);
      const matches = await verifyPassword(password, user?.passwordHash ?? null);
      if (user === null || !matches) throw new Fault('unauthenticated', 'Invalid credentials');
      return { ...(await tokens.issue(user.name, user.role)), principal: principalOf(user) };
    },
  };
}

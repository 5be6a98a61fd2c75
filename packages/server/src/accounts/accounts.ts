/** User administration at run time. */
import { Fault } from '@parlance/protocol';
import type { Account, Accounts } from '../http/accounts.ts';
import type { Authenticator } from '../http/authenticator.ts';
import { hashPassword, newPasswordProblem } from './passwords.ts';
import { sequential } from './sequential.ts';
import type { StoredUser, User, UserStore } from './store.ts';
import { nameProblem } from './users.ts';

export type AccountOptions = {
  readonly users: UserStore;
  readonly authenticator: Pick<Authenticator, 'login'>;
  /** names of the users in the settings */
  readonly named: readonly string[];
  readonly now?: () => number;
};

export function openAccounts({ users, authenticator, named, now = Date.now }: AccountOptions): Accounts {
  // Serializes read-modify-write operations.
  const inTurn = sequential();
  const shown = ({ name, role, createdAt }: User): Account => ({
    name,
    role,
    createdAt,
    fromSettings: named.includes(name),
  });

  async function existing(name: string): Promise<StoredUser> {
    const user = nameProblem(name) === null ? await users.find(name) : null;
    if (user === null) throw new Fault('not_found', 'There is no such user.');
    return user;
  }

  async function keepOneAdmin(admin: User): Promise<void> {
    if (admin.role !== 'admin') return;
    const others = (await users.everyone()).filter(
      ({ name, role }) => role === 'admin' && name !== admin.name,
    );
    if (others.length === 0)
      throw new Fault('forbidden', `${admin.name} is the only admin: make another user an admin first.`);
  }

  return {
    list: async () => (await users.everyone()).map(shown),

    async add({ name, password, role }) {
      const problem = nameProblem(name);
      if (problem !== null) throw new Fault('invalid', `name: ${problem}`);
      const passwordHash = await newPassword(password);
      return inTurn(async () => {
        if ((await users.find(name)) !== null)
          throw new Fault('invalid', `name: the user ${name} already exists`);
        const user: User = { name, role, passwordHash, createdAt: now() };
        await users.put(user);
        return shown(user);
      });
    },

    async change(name, { password, role }) {
      const passwordHash = password === undefined ? undefined : await newPassword(password);
      return inTurn(async () => {
        const user = await existing(name);
        if (role !== undefined && role !== 'admin') await keepOneAdmin(user);
        const changed = {
          ...user,
          role: role ?? user.role,
          passwordHash: passwordHash ?? user.passwordHash,
        };
        await users.put(changed);
        return shown(changed);
      });
    },

    remove: (name) =>
      inTurn(async () => {
        await keepOneAdmin(await existing(name));
        await users.remove(name);
      }),

    /** Rewriting an unchanged user increments its token version. */
    logOut: (name) => inTurn(async () => users.put(await existing(name))),

    async changePassword(name, { old, password }, address) {
      await authenticator.login(name, old, address).catch((thrown) => {
        const wrong = thrown instanceof Fault && thrown.code === 'unauthenticated';
        throw wrong ? new Fault('forbidden', 'The old password is wrong.') : thrown;
      });
      await this.change(name, { password });
      return authenticator.login(name, password, address);
    },
  };
}

/** The hash of a password that is to be set. Throws `invalid` for an unacceptable one. */
export async function newPassword(password: string): Promise<string> {
  const problem = newPasswordProblem(password);
  if (problem !== null) throw new Fault('invalid', problem);
  return hashPassword(password);
}

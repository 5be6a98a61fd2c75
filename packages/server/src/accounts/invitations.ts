/** Invitations of new users. The admin chooses name and role, since sessions belong to names; the invited person chooses the password. */
import { Fault } from '@parlance/protocol';
import type { Log } from '../core/ports/telemetry.ts';
import type { Invitations, InvitationView } from '../http/invitations.ts';
import { newPassword } from './accounts.ts';
import { idOf, matches, newKey } from './key-format.ts';
import type { Invitation, InvitationStore, UserStore } from './store.ts';
import { nameProblem } from './users.ts';

const PREFIX = 'pli_';
const DAY_MS = 24 * 3_600_000;
const DAYS = 7;
const MAX_INVITATIONS = 1_000;

export type InvitationOptions = {
  readonly invitations: InvitationStore;
  readonly users: Pick<UserStore, 'find'>;
  readonly log: Log;
  readonly now?: () => number;
};

export function openInvitations({ invitations, users, log, now = Date.now }: InvitationOptions): Invitations {
  async function holding(token: string): Promise<Invitation> {
    const id = idOf(token, PREFIX);
    const found = id === null ? null : await invitations.find(id);
    const isValid = found !== null && matches(token, found.hash) && found.expiresAt > now();
    if (!isValid || (await users.find(found.createdBy))?.role !== 'admin') throw gone();
    return found;
  }

  return {
    list: async () => (await invitations.list()).filter(({ expiresAt }) => expiresAt > now()).map(viewOf),

    async add(admin, { name, role, days = DAYS }) {
      const problem = nameProblem(name);
      if (problem !== null) throw new Fault('invalid', `name: ${problem}`);
      if ((await users.find(name)) !== null) throw taken(name);
      const { id, text: token, hash } = newKey(PREFIX);
      const createdAt = now();
      const invitation = {
        ...{ id, hash, name, role, createdBy: admin, createdAt },
        expiresAt: createdAt + days * DAY_MS,
      };
      if (!(await invitations.add(invitation, MAX_INVITATIONS)))
        throw new Fault('forbidden', `There are already ${MAX_INVITATIONS} invitations: revoke one first.`);
      log.info({ invitation: id, user: name, role, by: admin }, 'user invited');
      return { ...viewOf(invitation), token };
    },

    async revoke(id) {
      if (!(await invitations.remove(id))) throw new Fault('not_found', 'There is no such invitation.');
    },

    find: async (token) => viewOf(await holding(token)),

    async accept(token, password) {
      const invitation = await holding(token);
      const { id, name, role } = invitation;
      const passwordHash = await newPassword(password);
      const outcome = await invitations.accept(id, { name, role, passwordHash, createdAt: now() });
      if (outcome === 'gone') throw gone();
      if (outcome === 'taken') throw taken(name);
      log.info({ invitation: id, user: name, role }, 'invitation accepted');
      return viewOf(invitation);
    },
  };
}

const gone = (): Fault =>
  new Fault('not_found', 'The invitation was used or revoked, or has expired. Ask for another one.');
const taken = (name: string): Fault => new Fault('invalid', `name: the user ${name} already exists`);

const viewOf = ({ hash: _, ...invitation }: Invitation): InvitationView => invitation;
